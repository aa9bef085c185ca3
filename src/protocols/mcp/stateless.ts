import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { RequestHeader } from '../../http/family.ts';
import { JSON_TYPE, plainText, type Reply, reply } from '../../http/reply.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Principal } from '../../schema/principal.ts';
import type { Reading } from '../../schema/reader.ts';
import { withTimeout } from '../../schema/with-timeout.ts';
import { type Parsed, readMessage } from './messages.ts';
import { withoutOddCursor } from './params.ts';
import type { McpProvider, RpcCall } from './provider.ts';
import { loadSdk } from './sdk.ts';
import { STREAM_HEADERS } from './session.ts';
import { STATELESS_VERSIONS, VERSION_KEY } from './versions.ts';

/**
 * Protocol revisions without sessions (mcp.md C5): every request names its revision and is handled by a dedicated
 * server. The SDK implements their rules; this module adapts its requests and responses to those of the service.
 */
export type Stateless = {
  answer(request: StatelessRequest): Promise<Reply | EventStream>;
  toolsChanged(): void;
  close(): void;
};

export type StatelessRequest = {
  principal: Principal;
  parsed: Parsed;
  header: RequestHeader;
};

/** Returns whether a request names such a revision. */
export const isStateless = (body: unknown, version: string | undefined): boolean =>
  claimIn(body) || (version !== undefined && STATELESS_VERSIONS.includes(version));

const claimIn = (body: unknown): boolean => {
  const { params } = isObject(body) ? body : {};
  const { _meta } = isObject(params) ? params : {};
  return isObject(_meta) && VERSION_KEY in _meta;
};

/** Headers that the rules refer to; other headers are checked before or irrelevant. */
const READ = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

export const createStateless = (provider: McpProvider, report: (error: Error) => void): Stateless => {
  let loading: Promise<McpHttpHandler> | undefined;
  const handler = (): Promise<McpHttpHandler> => {
    loading ??= createHandler(provider, report);
    return loading;
  };
  return {
    async answer({ principal, parsed, header }) {
      const body = asRead(readable(parsed).value);
      const call = callIn(body);
      if (call) provider.checkScope(principal, call);
      const reading = call && provider.readingOf(call);
      const { fetch } = await handler();
      const gone = new AbortController();
      const request = new Request('http://localhost/v1/mcp', {
        method: 'POST',
        headers: headersOf(header),
        body: JSON.stringify(body),
        signal: gone.signal,
      });
      // The field in which the SDK forwards client information.
      const authInfo = { token: '', clientId: '', scopes: [], extra: { principal } };
      const response = fetch(request, { authInfo, parsedBody: body });
      const quick = await withTimeout(response, QUICK_MS);
      return quick ? asAnswer(quick, gone, reading) : streamLater(response, gone, reading);
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

const callIn = (body: unknown): RpcCall | undefined =>
  isObject(body) && typeof body.method === 'string'
    ? { method: body.method, params: body.params }
    : undefined;

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
      // `answer` puts it there.
      const principal = authInfo?.extra?.principal as Principal;
      provider.bind(server, () => principal, sdk);
      return server;
    },
    // The HTTP server sends heartbeats on streams and limits bodies.
    { legacy: 'reject', keepAliveMs: 0, onerror: report },
  );
};

/**
 * A response that takes longer is streamed, whatever it is. The stream keeps the connection alive and detects a
 * disconnected client, whose call is then cancelled.
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

const asAnswer = async (
  response: Response,
  gone: AbortController,
  reading: Reading | undefined,
): Promise<Reply | EventStream> => {
  if (isStream(response)) return streamLater(Promise.resolve(response), gone, reading);
  const text = await response.text();
  if (text === '') return reply(response.status);
  return plainText(text, response.headers.get('content-type') ?? JSON_TYPE, response.status);
};

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

const streamLater = (
  response: Promise<Response>,
  gone: AbortController,
  reading: Reading | undefined,
): EventStream => {
  const stream = createEventStream({ headers: STREAM_HEADERS, reading });
  stream.onClose(() => gone.abort());
  pump(response, stream)
    // Aborted: the client has disconnected.
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
