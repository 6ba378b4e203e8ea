package collation

// storedFormat is what TestStoredFormat expects.
const storedFormat = `utf8mb4_0900_ai_ci "" 
utf8mb4_0900_ai_ci "Straße 1\t" 81837f5d81816505540403
utf8mb4_0900_ai_ci "chыя世🍣" 616b92759290ff6efbff41a446f8
utf8mb4_0900_ai_ci " a  b " 055d05055f05
utf8mb4_0900_as_cs "" 0101
utf8mb4_0900_as_cs "Straße 1\t" 81837f5d81816505540403012222222222e2312222222222010a04040406060604040404
utf8mb4_0900_as_cs "chыя世🍣" 616b92759290ff6efbff41a446f80122222222222201040404040404
utf8mb4_0900_as_cs " a  b " 055d05055f050122222222222201040404040404
utf8mb4_unicode_ci "" 0502
utf8mb4_unicode_ci "Straße 1\t" 7577735175755905034804030502
utf8mb4_unicode_ci "chыя世🍣" 555f86258645ff71c1ff446aff76830502
utf8mb4_unicode_ci " a  b " 05035105030503530502
utf8mb4_unicode_520_ci "" 0502
utf8mb4_unicode_520_ci "Straße 1\t" 787a765478785c05034b04030502
utf8mb4_unicode_520_ci "chыя世🍣" 586289ad89d0ff707aff4323ff70fdff68950502
utf8mb4_unicode_520_ci " a  b " 05035405030503560502
utf8mb4_general_ci "" 0302
utf8mb4_general_ci "Straße 1\t" 363735243628030314020a0302
utf8mb4_general_ci "chыя世🍣" 262b4cb04cb496e5ff4b7f0302
utf8mb4_general_ci " a  b " 03032403030303250302
utf8mb4_bin "" 2102
utf8mb4_bin "Straße 1\t" 54757362c4a0662103320a2102
utf8mb4_bin "chыя世🍣" 6469d28cd290e5b997f1a08ea42102
utf8mb4_bin " a  b " 21036221032103632102
latin1_swedish_ci "" 0302
latin1_swedish_ci "Straße 1\t" 36373524496128030314020a0302
latin1_swedish_ci "chыя世🍣" 262b4cd04cd496e5ff4b7f0302
latin1_swedish_ci " a  b " 03032403030303250302
utf8mb4_cs_0900_ai_ci "" 
utf8mb4_cs_0900_ai_ci "Straße 1\t" 81837f5d81816505540403
utf8mb4_cs_0900_ai_ci "chыя世🍣" 6bc5b892759290ff6efbff41a446f8
utf8mb4_cs_0900_ai_ci " a  b " 055d05055f05
utf8mb4_ru_0900_ai_ci "" 
utf8mb4_ru_0900_ai_ci "Straße 1\t" 8385815f83836705540403
utf8mb4_ru_0900_ai_ci "chыя世🍣" 636d5e745e8fff6f37ff41df46f8
utf8mb4_ru_0900_ai_ci " a  b " 055f05056105
`
