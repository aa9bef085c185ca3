import { createRequire } from 'node:module';
import { StringDecoder } from 'node:string_decoder';
import { Pool } from 'undici';
import type { UwsModule, UwsResponse } from '../../src/http/uws-module.ts';
import { buildRequest, FORMATS, type FormatName } from '../upstream/request.ts';
import { PARSE_TEXT } from '../upstream/text.ts';

/**
 * The minimum work of a JavaScript proxy between a provider and a client: it parses each event of the upstream, encodes
 * its text as a frame like those of Troupe, and stores nothing. Frames of one socket read are sent together.
 *
 * Usage: bare-proxy UPSTREAM; then POST /FORMAT/MODEL
 */

const uws: UwsModule = createRequire(import.meta.url)('uWebSockets.js');

const upstream = process.argv[2] ?? '';

const CONNECTIONS = 10_000;

const pool = new Pool(upstream, { connections: CONNECTIONS, pipelining: 1, keepAliveTimeout: 300_000 });

const FINISH = 'data: {"event_type":"run_finish"}\n\n';

type Client = { res: UwsResponse; closed: boolean; pending: string };

/** Calls back with the data of each event; an incomplete line is kept for the next chunk. */
function createLines(report: (data: string) => void): (piece: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return (piece) => {
    const text = rest + decoder.write(piece);
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      if (text.startsWith('data: {', at)) report(text.slice(at + 'data: '.length, end));
      at = end + 1;
    }
    rest = text.slice(at);
  };
}

function flush(client: Client): void {
  const { pending, res } = client;
  client.pending = '';
  if (!client.closed && pending !== '') res.cork(() => res.write(pending));
}

function finish(client: Client, last: string): void {
  if (client.closed) return;
  client.closed = true;
  const { pending, res } = client;
  res.cork(() => res.end(pending + last));
}

function proxy(client: Client, format: FormatName, model: string): void {
  const parse = PARSE_TEXT[format];
  const read = createLines((data) => {
    const delta = parse(data);
    if (delta === '') return;
    if (client.pending === '') queueMicrotask(() => flush(client));
    client.pending += `data: ${JSON.stringify({ event_type: 'text_delta', delta })}\n\n`;
  });
  let status = 0;
  pool.dispatch(
    { method: 'POST', ...buildRequest(format, model) },
    {
      // Without it undici expects the methods of its older interface.
      onRequestStart: () => {},
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_, piece) => read(piece),
      // A response without the last frame counts as failed.
      onResponseEnd: () => finish(client, status === 200 ? FINISH : ''),
      onResponseError: () => finish(client, ''),
    },
  );
}

const app = uws.App();
for (const format of FORMATS) {
  app.post(`/${format}/:model`, (res, req) => {
    const model = req.getParameter(0) ?? '';
    const client: Client = { res, closed: false, pending: '' };
    res.onAborted(() => {
      client.closed = true;
    });
    res.onData((_, isLast) => {
      if (!isLast) return;
      res.cork(() => {
        res.writeStatus('200 OK');
        res.writeHeader('content-type', 'text/event-stream');
        res.writeHeader('cache-control', 'no-cache');
      });
      proxy(client, format, model);
    });
  });
}

app.listen('127.0.0.1', 0, 0, (socket) => {
  if (!socket) throw new Error('no port to listen on');
  process.stdout.write(`listens on http://127.0.0.1:${uws.us_socket_local_port(socket)}\n`);
});
process.on('disconnect', () => process.exit());
