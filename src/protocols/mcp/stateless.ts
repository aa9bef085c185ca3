import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { RequestHeader } from '../../http/mount.ts';
import { JSON_TYPE, plainText, type Reply, reply } from '../../http/reply.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { isObject } from '../../schema/endpoint.ts';
import { type Parsed, readMessage } from './messages.ts';
import type { McpProvider } from './provider.ts';
import { loadSdk } from './sdk.ts';
import { STREAM_HEADERS } from './session.ts';
import { STATELESS_VERSIONS, VERSION_KEY } from './versions.ts';

/**
 * The revisions without sessions (mcp.md C5): every request says which one it is of, and is answered by a server of its
 * own. The SDK has all of their rules; here its requests and responses become those of the service.
 */
export type Stateless = {
  answer(request: StatelessRequest): Promise<Reply | EventStream>;
  toolsChanged(): void;
  close(): void;
};

export type StatelessRequest = {
  scope: string;
  parsed: Parsed;
  header: RequestHeader;
};

/** Whether a request says that it is of such a revision. */
export const isStateless = (body: unknown, version: string | undefined): boolean =>
  claimIn(body) || (version !== undefined && STATELESS_VERSIONS.includes(version));

const claimIn = (body: unknown): boolean => {
  const { params } = isObject(body) ? body : {};
  const { _meta } = isObject(params) ? params : {};
  return isObject(_meta) && VERSION_KEY in _meta;
};

/** Headers that the rules are about; the rest is checked before, or of no consequence. */
const READ = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

export const createStateless = (provider: McpProvider, report: (error: Error) => void): Stateless => {
  let loading: Promise<Handlers> | undefined;
  const handlers = (): Promise<Handlers> => {
    loading ??= createHandlers(provider, report);
    return loading;
  };
  return {
    async answer({ scope, parsed, header }) {
      const { value: body } = readable(parsed);
      const { streaming, plain } = await handlers();
      // Only a stream tells that its client has gone, and whose calls take long are cancelled with it.
      const { fetch } = isCall(body) ? streaming : plain;
      const gone = new AbortController();
      const request = new Request('http://localhost/v1/mcp', {
        method: 'POST',
        headers: headersOf(header),
        body: JSON.stringify(body),
        signal: gone.signal,
      });
      // Where the SDK hands on what it knows of a client.
      const authInfo = { token: '', clientId: scope, scopes: [] };
      return asAnswer(await fetch(request, { authInfo, parsedBody: body }), gone);
    },
    toolsChanged() {
      loading?.then(({ plain }) => plain.notify.toolsChanged()).catch(() => {});
    },
    close() {
      loading
        ?.then(({ streaming, plain }) => Promise.all([streaming.close(), plain.close()]))
        .catch(() => {});
    },
  };
};

/** @throws McpError 400 */
const readable = (parsed: Parsed): Parsed => {
  if (parsed.problem !== undefined) readMessage(parsed);
  return parsed;
};

type Handlers = { streaming: McpHttpHandler; plain: McpHttpHandler };

const createHandlers = async (provider: McpProvider, report: (error: Error) => void): Promise<Handlers> => {
  const sdk = await loadSdk();
  const { createMcpHandler } = sdk;
  const { info, capabilities } = provider;
  const serve: Parameters<typeof createMcpHandler>[0] = ({ authInfo }) => {
    const server = new sdk.Server(info, { capabilities, supportedProtocolVersions: STATELESS_VERSIONS });
    provider.bind(server, authInfo?.clientId ?? '', sdk);
    return server;
  };
  // The server of the service keeps streams alive, and knows how large a body may be.
  const options = { legacy: 'reject', keepAliveMs: 0, onerror: report } as const;
  return {
    streaming: createMcpHandler(serve, { ...options, responseMode: 'sse' }),
    plain: createMcpHandler(serve, { ...options, responseMode: 'auto' }),
  };
};

const isCall = (body: unknown): boolean => isObject(body) && body.method === 'tools/call';

const headersOf = (header: RequestHeader): Record<string, string> => ({
  'content-type': JSON_TYPE,
  accept: `${JSON_TYPE}, text/event-stream`,
  ...Object.fromEntries(
    READ.flatMap((name) => [[name, header(name)]].filter(([, value]) => value !== undefined)),
  ),
});

const asAnswer = async (response: Response, gone: AbortController): Promise<Reply | EventStream> => {
  const type = response.headers.get('content-type') ?? JSON_TYPE;
  if (response.body && type.startsWith('text/event-stream')) return streamOf(response.body, gone);
  const text = await response.text();
  return text === '' ? reply(response.status) : plainText(text, type, response.status);
};

const streamOf = (body: ReadableStream<Uint8Array>, gone: AbortController): EventStream => {
  const stream = createEventStream({ headers: STREAM_HEADERS });
  stream.onClose(() => gone.abort());
  const pump = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of body) stream.write(decoder.decode(chunk, { stream: true }));
  };
  // Aborted: there is nobody to write for.
  pump()
    .catch(() => {})
    .finally(() => stream.end());
  return stream;
};
