export { isCompactToken } from './compact-token.ts';
export { createIssuers, type Issuers } from './issuers.ts';
export type { VerifiedToken } from './verified-token.ts';
