/** Supported revisions of the protocol (mcp.md C1), newest first. */

/** Revisions with sessions. */
export const SESSION_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Revisions in which every request is self-contained. */
export const STATELESS_VERSIONS = ['2026-07-28'];

/** Key of the revision in such a request. */
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Key of the client capabilities in such a request. */
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
