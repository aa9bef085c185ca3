import type * as https from 'node:https';

/**
 * Returns `node:https`, loaded at the first call. It loads the TLS and cryptography modules of Node, which a start
 * without an HTTPS peer does not need.
 */
export const loadHttps = (): typeof https => process.getBuiltinModule('node:https');
