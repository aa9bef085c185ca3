import { STATUS_CODES } from 'node:http';
import { performance } from 'node:perf_hooks';
import { writeOrigin } from './cors.ts';
import { encode, encodeBody } from './encode.ts';
import type { ErrorForm } from './errors.ts';
import { MEMBER_HEADER, UNTOUCHED_HEADER } from './member-headers.ts';
import type { Reply } from './reply.ts';
import { type LongBody, PIECE_BYTES, type Rest, takeBeginning, type Unsent } from './unsent.ts';
import type { WireResponse } from './wire.ts';

/**
 * One request and its response. Only this module accesses a response of uWebSockets.js.
 *
 * Guarantees: the response is not accessed after it has ended or its client has disconnected (uWebSockets.js would
 * throw). Every exchange is observed exactly once, when it ends, with the time until its head was sent.
 * Relies on the server to call `awaitAbort` on every exchange that its route callback leaves open: that is the last
 * moment at which uWebSockets.js allows it.
 * Cost: one object per request. It lives as long as an event stream, so it retains no request data.
 */
export type Observer = {
  request(method: string, route: string, status: number, seconds: number): void;
  inFlight(delta: 1 | -1): void;
};

/** State that all exchanges of a server share. */
export type ExchangeContext = {
  readonly observe: Observer;
  readonly unsent: Unsent;
  /** The server is stopping: every response closes its connection. */
  draining: boolean;
  /** Nothing is answered for now. */
  suspended: boolean;
  /** Called when an exchange has ended; absent if unused. */
  readonly ended?: ((exchange: Exchange) => void) | undefined;
  /** Receives errors that a listener throws outside of any caller that could catch them. */
  readonly report: (error: unknown) => void;
  /** Name of this member of a cluster, which every response states; absent outside of a cluster. */
  readonly member?: string | undefined;
};

export type Exchange = {
  readonly context: ExchangeContext;
  readonly res: WireResponse;
  readonly method: string;
  /** Route label in the metrics. */
  route: string;
  readonly errors: ErrorForm;
  /** Header that states the processing time; absent in most families. */
  readonly processingHeader?: string | undefined;
  /** The origin to echo; empty if the request has none or an unlisted one. */
  readonly origin: string;
  /** Sent with the response, and logged if the request fails. */
  readonly requestId: string;
  /** The connection of the client is encrypted: browsers are asked to use no other. */
  readonly isSecure: boolean;
  readonly startedAt: number;
  /** Whether the code runs in the route callback, where uWebSockets.js has corked the socket already. */
  corked: boolean;
  /** Values of `Set-Cookie`. */
  cookies: readonly string[];
  done: boolean;
  /** Whether the connection is closed after the response. */
  closes: boolean;
  /** Whether the response is intended for operators only. */
  confidential: boolean;
  /** Whether the request is refused without any effect, so that another member may serve it. */
  isUntouched: boolean;
  status: number;
  seconds: number;
  /** Called when the client disconnects before the response has ended. */
  onGone: (() => void) | undefined;
};

const NO_COOKIES: readonly string[] = [];

/** Status in the metrics for a request whose client disconnected before the response. */
const CLIENT_GONE = 499;

export const openExchange = (
  context: ExchangeContext,
  res: WireResponse,
  request: Pick<
    Exchange,
    'method' | 'route' | 'errors' | 'processingHeader' | 'origin' | 'requestId' | 'isSecure'
  >,
): Exchange => {
  context.observe.inFlight(1);
  return {
    context,
    res,
    method: request.method,
    route: request.route,
    errors: request.errors,
    processingHeader: request.processingHeader,
    origin: request.origin,
    requestId: request.requestId,
    isSecure: request.isSecure,
    startedAt: performance.now(),
    corked: true,
    cookies: NO_COOKIES,
    done: false,
    closes: false,
    confidential: false,
    isUntouched: false,
    status: 0,
    seconds: 0,
    onGone: undefined,
  };
};

export const awaitAbort = (exchange: Exchange): void => {
  exchange.res.onAborted(() => {
    if (exchange.done) return;
    if (exchange.status === 0) stampHead(exchange, CLIENT_GONE);
    close(exchange);
    notify(exchange, exchange.onGone);
  });
};

/** Replaces the previous listener. */
export const setDisconnectListener = (exchange: Exchange, listener: () => void): void => {
  if (exchange.done) listener();
  else exchange.onGone = listener;
};

/** An error that escapes a callback of uWebSockets.js would end the process. */
const notify = (exchange: Exchange, listener: (() => void) | undefined): void => {
  try {
    listener?.();
  } catch (error) {
    exchange.context.report(error);
  }
};

/** Sends a complete response. Does nothing if the client has disconnected. */
export const sendReply = (exchange: Exchange, answer: Reply): void => {
  if (exchange.done) return;
  const { res } = exchange;
  const { text, more } = takeBeginning(answer.text ?? '');
  const isLong = exchange.method !== 'HEAD' && (more !== undefined || text.length > PIECE_BYTES);
  if (answer.cookies) exchange.cookies = answer.cookies;
  stampHead(exchange, answer.status);
  cork(exchange, () => {
    writeHead(exchange, answer.status, answer.headers);
    if (answer.text !== undefined) res.writeHeader('content-type', encode(answer.contentType));
    if (isLong) {
      if (isLast(exchange)) res.writeHeader('connection', 'close');
      return;
    }
    if (exchange.method === 'HEAD' && !more)
      res.writeHeader('content-length', String(Buffer.byteLength(text)));
    if (exchange.method === 'HEAD' || isBodiless(answer)) endWithoutLength(exchange);
    else res.end(encodeBody(text, res.retains), isLast(exchange));
  });
  if (isLong) sendLong(exchange, text, more);
  else {
    more?.return?.();
    close(exchange);
  }
};

/** Writes the rest of a response in chunks, as its reader takes them. The last chunk ends the exchange. */
const sendLong = (exchange: Exchange, text: string | Uint8Array, more: Rest = undefined): void => {
  const { unsent, report } = exchange.context;
  const rest = typeof text === 'string' ? Buffer.from(text) : text;
  const body: LongBody = { rest, more, taken: 0, cutOff: () => cutOff(exchange) };
  const proceed = (): void => {
    try {
      for (let takesMore = true; takesMore && !exchange.done; ) {
        const { chunk, isLast } = unsent.next(body);
        if (isLast) unsent.remove(body);
        if (isLast) endStream(exchange, chunk);
        else takesMore = writeStream(exchange, chunk);
      }
    } catch (error) {
      // The head has been sent, so a broken connection is the only sign of failure that the client can receive.
      report(error);
      cutOff(exchange);
    }
  };
  // In the route callback, no abort listener is registered yet.
  if (exchange.corked) awaitAbort(exchange);
  setDisconnectListener(exchange, () => unsent.remove(body));
  unsent.add(body);
  onWritable(exchange, proceed);
  proceed();
};

/** Responses with these statuses have neither a body nor a length. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

const isBodiless = ({ text, status }: Reply): boolean => text === undefined && BODILESS.has(status);

/** With any argument, even an undefined one, uWebSockets.js would send a content length. */
const endWithoutLength = (exchange: Exchange): void => {
  if (isLast(exchange)) exchange.res.writeHeader('connection', 'close');
  exchange.res.endWithoutBody();
};

/** Whether this response is the last one of its connection. */
const isLast = ({ context, closes }: Exchange): boolean => closes || context.draining;

/**
 * Starts a response of unknown length with its first text. If `last` is set, the text also ends the response. Returns
 * whether the socket accepts more data.
 */
export const startStream = (
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  text: string,
  last: boolean,
): boolean => {
  if (exchange.done) return false;
  let taken = true;
  const isLong = last && exchange.method !== 'HEAD' && text.length > PIECE_BYTES;
  const { res } = exchange;
  stampHead(exchange, 200);
  cork(exchange, () => {
    writeHead(exchange, 200, headers);
    if (exchange.method === 'HEAD') endWithoutLength(exchange);
    else if (isLong) return;
    else if (last) res.end(encodeBody(text, res.retains), isLast(exchange));
    else taken = res.write(encodeBody(text, res.retains));
  });
  if (isLong) sendLong(exchange, text);
  else if (last || exchange.method === 'HEAD') close(exchange);
  return taken;
};

/** Returns whether the socket accepts more data. */
export const writeStream = (exchange: Exchange, text: string | Uint8Array): boolean => {
  if (exchange.done) return false;
  const { res } = exchange;
  let taken = true;
  cork(exchange, () => {
    taken = res.write(encodeBody(text, res.retains));
  });
  return taken;
};

/**
 * Ends a stream without closing the connection, even while the server stops: to close it, uWebSockets.js would write
 * another header in the middle of the body.
 */
export const endStream = (exchange: Exchange, text: string | Uint8Array): void => {
  if (exchange.done) return;
  if (text.length > PIECE_BYTES) {
    sendLong(exchange, text);
    return;
  }
  const { res } = exchange;
  cork(exchange, () => {
    res.end(encodeBody(text, res.retains));
  });
  close(exchange);
};

/** Closes the connection and triggers `onGone`. */
export const cutOff = (exchange: Exchange): void => {
  if (!exchange.done) exchange.res.close();
};

export const onWritable = (exchange: Exchange, listener: () => void): void => {
  if (exchange.done) return;
  exchange.res.onWritable(() => {
    notify(exchange, listener);
    return true;
  });
};

const cork = (exchange: Exchange, write: () => void): void => {
  if (exchange.corked) write();
  else exchange.res.cork(write);
};

const close = (exchange: Exchange): void => {
  const { observe, ended } = exchange.context;
  exchange.done = true;
  observe.request(exchange.method, exchange.route, exchange.status, exchange.seconds);
  observe.inFlight(-1);
  ended?.(exchange);
};

const stampHead = (exchange: Exchange, status: number): void => {
  exchange.status = status;
  exchange.seconds = (performance.now() - exchange.startedAt) / 1000;
};

const writeHead = (
  exchange: Exchange,
  status: number,
  headers: Readonly<Record<string, string>> | undefined,
): void => {
  const { context, res, origin, confidential, cookies, processingHeader, seconds } = exchange;
  res.writeStatus(statusLine(status));
  writeOrigin(res, origin);
  res.writeHeader('x-request-id', exchange.requestId);
  if (context.member !== undefined) res.writeHeader(MEMBER_HEADER, encode(context.member));
  if (exchange.isUntouched) res.writeHeader(UNTOUCHED_HEADER, '1');
  if (processingHeader !== undefined) res.writeHeader(processingHeader, String(Math.round(seconds * 1000)));
  if (exchange.isSecure) res.writeHeader('strict-transport-security', STRICT_TRANSPORT);
  for (const cookie of cookies) res.writeHeader('set-cookie', encode(cookie));
  if (confidential) {
    res.writeHeader('cache-control', 'no-store');
    res.writeHeader('x-content-type-options', 'nosniff');
  }
  for (const name in headers) {
    if (!(confidential && name === 'cache-control')) res.writeHeader(name, singleLine(headers[name] ?? ''));
  }
};

const STRICT_TRANSPORT = 'max-age=31536000';

const statusLines = new Map<number, string>();

const statusLine = (status: number): string => {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    statusLines.set(status, line);
  }
  return line;
};

/**
 * Control characters are replaced because uWebSockets.js writes values unchanged: a line break would start another
 * header.
 */
const singleLine = (value: string): string | Uint8Array => encode(value.replace(/\p{Cc}/gu, ' '));
