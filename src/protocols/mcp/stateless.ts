import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { RequestHeader } from '../../http/family.ts';
import { JSON_TYPE, plainText, type Reply, reply } from '../../http/reply.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { isObject } from '../../schema/endpoint.ts';
import { inTime } from '../../schema/in-time.ts';
import { type Parsed, readMessage } from './messages.ts';
import { withoutOddCursor } from './params.ts';
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
  let loading: Promise<McpHttpHandler> | undefined;
  const handler = (): Promise<McpHttpHandler> => {
    loading ??= createHandler(provider, report);
    return loading;
  };
  return {
    async answer({ scope, parsed, header }) {
      const body = asRead(readable(parsed).value);
      const { fetch } = await handler();
      const gone = new AbortController();
      const request = new Request('http://localhost/v1/mcp', {
        method: 'POST',
        headers: headersOf(header),
        body: JSON.stringify(body),
        signal: gone.signal,
      });
      // Where the SDK hands on what it knows of a client.
      const authInfo = { token: '', clientId: scope, scopes: [] };
      const response = fetch(request, { authInfo, parsedBody: body });
      const quick = await inTime(response, QUICK_MS);
      return quick ? asAnswer(quick, gone) : streamLater(response, gone);
    },
    toolsChanged() {
      loading?.then(({ notify }) => notify.toolsChanged()).catch(() => {});
    },
    close() {
      loading?.then(({ close }) => close()).catch(() => {});
    },
  };
};

const asRead = (body: unknown): unknown =>
  isObject(body) ? { ...body, params: withoutOddCursor(body.params) } : body;

/** @throws McpError 400 */
const readable = (parsed: Parsed): Parsed => {
  if (parsed.problem !== undefined || parsed.inexact !== undefined) readMessage(parsed);
  return parsed;
};

const createHandler = async (
  provider: McpProvider,
  report: (error: Error) => void,
): Promise<McpHttpHandler> => {
  const sdk = await loadSdk();
  const { info, capabilities } = provider;
  return sdk.createMcpHandler(
    ({ authInfo }) => {
      const server = new sdk.Server(info, { capabilities, supportedProtocolVersions: STATELESS_VERSIONS });
      provider.bind(server, authInfo?.clientId ?? '', sdk);
      return server;
    },
    // The server of the service keeps streams alive, and knows how large a body may be.
    { legacy: 'reject', keepAliveMs: 0, onerror: report },
  );
};

/**
 * What takes longer is answered in a stream, whatever it will be: it keeps the connection alive, and tells when the
 * client has gone, whose call is cancelled then.
 */
const QUICK_MS = 1000;

const headersOf = (header: RequestHeader): Record<string, string> => ({
  'content-type': JSON_TYPE,
  accept: `${JSON_TYPE}, text/event-stream`,
  ...Object.fromEntries(
    READ.flatMap((name) => {
      const value = header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  ),
});

const asAnswer = async (response: Response, gone: AbortController): Promise<Reply | EventStream> => {
  if (isStream(response)) return streamLater(Promise.resolve(response), gone);
  const text = await response.text();
  if (text === '') return reply(response.status);
  return plainText(text, response.headers.get('content-type') ?? JSON_TYPE, response.status);
};

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

const streamLater = (response: Promise<Response>, gone: AbortController): EventStream => {
  const stream = createEventStream({ headers: STREAM_HEADERS });
  stream.onClose(() => gone.abort());
  pump(response, stream)
    // Aborted: there is nobody to write for.
    .catch(() => {})
    .finally(() => stream.end());
  return stream;
};

const pump = async (response: Promise<Response>, stream: EventStream): Promise<void> => {
  const answer = await response;
  if (!isStream(answer)) return stream.write(`event: message\ndata: ${await answer.text()}\n\n`);
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) stream.write(decoder.decode(chunk, { stream: true }));
};
