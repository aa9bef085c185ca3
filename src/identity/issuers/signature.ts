/** The verification of signatures: modules load this file for the first token. */
export { compactVerify } from 'jose/jws/compact/verify';
