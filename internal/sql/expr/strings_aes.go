package expr

import (
	"crypto/aes"
	"crypto/cipher"
	"strconv"
	"strings"
)

func init() {
	register(
		&Func{Name: "aes_encrypt", Min: 2, Max: 6, Resolve: resolveTyped(TBytes(-1), evalAES(true))},
		&Func{Name: "aes_decrypt", Min: 2, Max: 6, Resolve: resolveTyped(TBytes(-1), evalAES(false))},
	)
}

// evalAES is AES_ENCRYPT and AES_DECRYPT(text, key [, initialization vector]) in the mode of block_encryption_mode: aes-128-ecb,
// aes-256-cbc and so on. A key of another length is folded: its bytes are combined by XOR.
func evalAES(encrypt bool) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		if len(c.Args) > 3 {
			return Null, Errorf(1235, "42000", "This version of Longitude doesn't yet support key derivation in %s", c.Name)
		}
		bits, mode, err := blockMode(env.BlockMode)
		if err != nil {
			return Null, err
		}
		var vector string
		if len(c.Args) < 3 && mode != "ecb" {
			return Null, Errorf(1582, "42000", "Incorrect parameter count in the call to native function '%s'", c.Name)
		}
		s, null, err := c.bytesArg(env, 0)
		if err != nil || null {
			return Null, err
		}
		key, null, err := c.bytesArg(env, 1)
		if err != nil || null {
			return Null, err
		}
		if len(c.Args) == 3 {
			if vector, null, err = c.textArg(env, 2); err != nil {
				return Null, err
			}
			switch {
			case mode == "ecb":
				env.Warning(1618, "<IV> option ignored")
			case null || len(vector) < aes.BlockSize:
				return Null, Errorf(1882, "HY000", "The initialization vector supplied to %s is too short. Must be at least 16 bytes long", c.Name)
			}
		}
		folded := make([]byte, bits/8)
		for i := range len(key) {
			folded[i%len(folded)] ^= key[i]
		}
		block, err := aes.NewCipher(folded)
		if err != nil {
			return Null, err
		}
		if mode != "ecb" {
			vector = vector[:aes.BlockSize]
		}
		if encrypt {
			return encryptAES(env, c, block, mode, vector, s)
		}
		return decryptAES(block, mode, vector, s), nil
	}
}

func blockMode(s string) (bits int, mode string, err error) {
	if s == "" {
		s = "aes-128-ecb"
	}
	parts := strings.Split(strings.ToLower(s), "-")
	if len(parts) == 3 && parts[0] == "aes" {
		bits, err = strconv.Atoi(parts[1])
		mode = parts[2]
	}
	known := mode == "ecb" || mode == "cbc" || mode == "cfb128" || mode == "ofb"
	if err != nil || bits != 128 && bits != 192 && bits != 256 || !known {
		return 0, "", Errorf(1235, "42000", "This version of Longitude doesn't yet support block_encryption_mode '%s'", s)
	}
	return bits, mode, nil
}

func encryptAES(env *Env, c *Call, block cipher.Block, mode, vector, s string) (Value, error) {
	if !c.fits(env, int64(len(s))+aes.BlockSize) {
		return Null, nil
	}
	b := []byte(s)
	switch mode {
	case "cfb128":
		//lint:ignore SA1019 block_encryption_mode offers it; what MySQL encrypted has to be read
		cipher.NewCFBEncrypter(block, []byte(vector)).XORKeyStream(b, b) //nolint:staticcheck // what the setting asks for
		return Bytes(string(b)), nil
	case "ofb":
		//lint:ignore SA1019 block_encryption_mode offers it; what MySQL encrypted has to be read
		cipher.NewOFB(block, []byte(vector)).XORKeyStream(b, b) //nolint:staticcheck // what the setting asks for
		return Bytes(string(b)), nil
	}
	padding := aes.BlockSize - len(b)%aes.BlockSize
	for range padding {
		b = append(b, byte(padding))
	}
	if mode == "cbc" {
		cipher.NewCBCEncrypter(block, []byte(vector)).CryptBlocks(b, b)
		return Bytes(string(b)), nil
	}
	for at := 0; at < len(b); at += aes.BlockSize {
		block.Encrypt(b[at:], b[at:])
	}
	return Bytes(string(b)), nil
}

// decryptAES gives NULL for what no encryption has given.
func decryptAES(block cipher.Block, mode, vector, s string) Value {
	b := []byte(s)
	switch mode {
	case "cfb128":
		//lint:ignore SA1019 block_encryption_mode offers it; what MySQL encrypted has to be read
		cipher.NewCFBDecrypter(block, []byte(vector)).XORKeyStream(b, b) //nolint:staticcheck // what the setting asks for
		return Bytes(string(b))
	case "ofb":
		//lint:ignore SA1019 block_encryption_mode offers it; what MySQL encrypted has to be read
		cipher.NewOFB(block, []byte(vector)).XORKeyStream(b, b) //nolint:staticcheck // what the setting asks for
		return Bytes(string(b))
	}
	if len(b) == 0 || len(b)%aes.BlockSize != 0 {
		return Null
	}
	if mode == "cbc" {
		cipher.NewCBCDecrypter(block, []byte(vector)).CryptBlocks(b, b)
	} else {
		for at := 0; at < len(b); at += aes.BlockSize {
			block.Decrypt(b[at:], b[at:])
		}
	}
	padding := int(b[len(b)-1])
	if padding < 1 || padding > aes.BlockSize {
		return Null
	}
	for _, x := range b[len(b)-padding:] {
		if int(x) != padding {
			return Null
		}
	}
	return Bytes(string(b[:len(b)-padding]))
}
