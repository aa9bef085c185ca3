/** Revisions of the protocol that the endpoint speaks (mcp.md C1), the newest first. */

/** With sessions. */
export const SESSION_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Where every request says everything. */
export const STATELESS_VERSIONS = ['2026-07-28'];

/** Where a request of such a revision names it. */
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Where it says what its client can do. */
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
