export { isCompactToken } from './compact-token.ts';
export { createIssuers, type Issuers } from './issuers.ts';
export { createTokenJudge, type JudgeToken } from './judge-token.ts';
export type { VerifiedToken } from './verified-token.ts';
