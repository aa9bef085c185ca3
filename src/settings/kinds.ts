import { isIP } from 'node:net';
import { z } from 'zod';
import { compileGlob } from '../schema/glob.ts';
import { type IssuerSpec, issuerSpecs } from '../schema/issuer.ts';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { isLoopback } from '../schema/loopback.ts';
import { ReasoningEffort } from '../schema/model-settings.ts';
import { LONGEST_TIMER_MS } from '../schema/timer.ts';
import { splitWords } from './command-line.ts';

/**
 * Types of setting values. A kind parses both forms of a value: text (flag, variable, a string of the settings file)
 * and the native value (settings file, embedding API). Only its schema validates the value; `allowed` is the sentence
 * of the error message, `type` the text in the table.
 *
 * A number is not accepted as a string: YAML would have converted a token such as 0123 to 123.
 */
export type Kind<T> = {
  type: string;
  allowed: string;
  placeholder: string;
  /** Parses a text; `undefined` = the text is blank, and the setting counts as not set. */
  fromText(text: string): unknown;
  /** Built for a setting that is given: building all of them takes a noticeable part of a start. */
  schema(): z.ZodType<T>;
  /** The value has parts, and an error message names the part that is not allowed. */
  parts?: true;
};

const trimmed = (text: string): string | undefined => text.trim() || undefined;

const itemsOf = (text: string): string[] | undefined => {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  return items.length > 0 ? items : undefined;
};

export const scalar = <T>(kind: Omit<Kind<T>, 'fromText'>): Kind<T> => ({ ...kind, fromText: trimmed });

export const integer = ({ min, max }: { min?: number; max?: number } = {}): Kind<number> => {
  const lowest = min ?? 0;
  return scalar({
    type: lowest === 0 ? 'int' : `int ≥ ${lowest}`,
    allowed: max === undefined ? `an integer, ${lowest} or more` : `an integer, ${lowest} to ${max}`,
    placeholder: 'n',
    schema: () =>
      z
        .union([
          z.number(),
          z
            .string()
            .regex(/^\d+$/)
            .transform((digits) => Number(digits)),
        ])
        .pipe(max === undefined ? z.int().min(lowest) : z.int().min(lowest).max(max)),
  });
};

export const milliseconds = ({ min }: { min?: 0 | 1 } = {}): Kind<number> =>
  integer({ ...(min !== undefined && { min }), max: LONGEST_TIMER_MS });

const booleanWords = { truthy: ['1', 'true', 'yes', 'on'], falsy: ['0', 'false', 'no', 'off'] };

export const boolean = (): Kind<boolean> =>
  scalar({
    type: 'bool',
    allowed: `${booleanWords.truthy.join(', ')} or ${booleanWords.falsy.join(', ')}`,
    placeholder: 'bool',
    schema: () =>
      z.union([
        z.boolean(),
        z.literal([0, 1]).transform((bit) => bit === 1),
        z.stringbool({ ...booleanWords, case: 'insensitive' }),
      ]),
  });

/** `min`: characters. */
export const text = ({ min = 1 }: { min?: number } = {}): Kind<string> =>
  scalar({
    type: min === 1 ? 'string' : `string ≥ ${min} characters`,
    allowed: min === 1 ? 'a string' : `a string of at least ${min} characters`,
    placeholder: 'text',
    schema: () => z.string().min(min),
  });

/** A text that headers of HTTP can have. */
export const label = (): Kind<string> =>
  scalar({
    type: 'string',
    allowed: '1 to 64 printable ASCII characters without spaces at the ends',
    placeholder: 'name',
    schema: () => z.string().regex(/^(?! )[ -~]{1,64}(?<! )$/),
  });

export const commandLine = (): Kind<string[]> =>
  scalar({
    type: 'command line',
    allowed: 'a command line whose quotes are closed, or a list of its words',
    placeholder: 'command',
    schema: () =>
      z.union([
        z.array(z.string()).min(1),
        z.string().transform((line, context) => {
          const words = splitWords(line);
          if (words !== undefined && words.length > 0) return words;
          context.addIssue('not a command line');
          return z.NEVER;
        }),
      ]),
  });

export const path = (): Kind<string> =>
  scalar({
    type: 'path',
    allowed: 'a path',
    placeholder: 'path',
    schema: () => z.string().regex(/^[^\0]+$/),
  });

export const choice = <const V extends string>(values: readonly [V, ...V[]]): Kind<V> =>
  scalar({
    type: values.map((value) => `\`${value}\``).join(' | '),
    allowed: `one of ${values.join(', ')}`,
    placeholder: values.join('|'),
    schema: () => z.enum(values),
  });

export const url = (): Kind<string> =>
  scalar({
    type: 'URL',
    allowed: 'an http or https URL',
    placeholder: 'url',
    schema: () => z.url({ protocol: /^https?$/ }),
  });

/**
 * `scheme://host[:port]` and nothing more. Browsers compare origins byte by byte, so the value is normalized as
 * browsers do.
 */
const Origin = z
  .string()
  .regex(/^https?:\/\/[^/?#@\\\s]+\/?$/i)
  .refine((origin) => URL.canParse(origin), { abort: true })
  .transform((origin) => new URL(origin).origin);

/** Matches all origins of this host, on any port. */
const LOOPBACK = z.literal('loopback');

export const origins = (): Kind<string[]> => ({
  type: 'origins',
  allowed:
    'a comma separated list of origins (http or https, host and port, without a path) and the word loopback',
  placeholder: 'origin,…',
  fromText: itemsOf,
  schema: () => z.array(z.union([LOOPBACK, Origin])),
});

/** A host name or an address, without a port. */
const HostName = z
  .string()
  .trim()
  .regex(/^(?:[\w.-]+|\[?[\da-f:.]*:[\da-f:.]*\]?)$/i)
  .toLowerCase();

export const hostNames = (): Kind<string[]> => ({
  type: 'host names',
  allowed: 'a comma separated list of host names or addresses, without a port',
  placeholder: 'host,…',
  fromText: itemsOf,
  schema: () => z.array(HostName),
});

/** An address, or a network in CIDR form. */
const Network = z
  .string()
  .trim()
  .toLowerCase()
  .refine((network) => {
    const [address = '', prefix, ...more] = network.split('/');
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= most);
    return more.length === 0 && most > 0 && isPrefix;
  });

export const networks = (): Kind<string[]> => ({
  type: 'networks',
  allowed:
    'a comma separated list of IP addresses, networks in CIDR form, and the words loopback and private',
  placeholder: 'network,…',
  fromText: itemsOf,
  schema: () => z.array(z.union([z.enum(['loopback', 'private']), Network])),
});

const encodedBytes = (value: string): number => Buffer.byteLength(value);

export const scopeId = (): Kind<string> =>
  scalar({
    type: 'string, 1..512 bytes',
    allowed: 'a string of 1 to 512 bytes without control characters that does not begin with `~`',
    placeholder: 'id',
    schema: () =>
      z
        .string()
        .min(1)
        .refine((id) => encodedBytes(id) <= 512 && !/\p{Cc}|^~/u.test(id)),
  });

export const metricsPrefix = (): Kind<string> =>
  scalar({
    type: 'string',
    allowed: 'the beginning of a metric name: letters, digits, _ and :, not starting with a digit',
    placeholder: 'prefix',
    schema: () => z.string().regex(/^[A-Za-z_:][A-Za-z0-9_:]*$/),
  });

const budgetOf = () =>
  integer()
    .schema()
    .transform((tokens) => ({ budget: tokens }));

export const reasoningEffort = (): Kind<ReasoningEffort> =>
  scalar({
    type: '`none` | `low` | `medium` | `high` | `max` | int',
    allowed: 'one of none, low, medium, high, max, or an integer budget of tokens',
    placeholder: 'effort',
    schema: () => z.union([ReasoningEffort, budgetOf()]),
  });

export type TcpAddress = { host: string; port: number };

const hostAndPort = /^(?:\[(?<v6>[0-9A-Fa-f:.]+(?:%\w+)?)\]|(?<name>[^\s:/[\]]+)):(?<port>\d{1,5})$/;

const splitAddress = (address: string): TcpAddress | undefined => {
  const { v6, name, port } = hostAndPort.exec(address)?.groups ?? {};
  const host = v6 ?? name;
  return host === undefined || Number(port) > 65_535 ? undefined : { host, port: Number(port) };
};

/** Maximum length of a socket path, without the terminating byte. */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

const socketPath = (address: string): string | undefined => {
  const [, path] = /^unix:(\/[^\0]*[^\0/])$/.exec(address) ?? [];
  return path !== undefined && encodedBytes(path) <= SOCKET_PATH_BYTES ? path : undefined;
};

/** A TCP address, or the path of a Unix socket. */
export const listeningAddress = (): Kind<string> =>
  scalar({
    type: 'host:port | unix:path',
    allowed:
      'host:port, an IPv6 host in brackets, a port of 0 to 65535 (0 = any free one), or unix: and the absolute path ' +
      `of a socket, of at most ${SOCKET_PATH_BYTES} bytes`,
    placeholder: 'host:port',
    schema: () =>
      z.string().refine((address) => (socketPath(address) ?? splitAddress(address)) !== undefined),
  });

/** A TCP address that only this host can reach. */
export const loopbackPort = (): Kind<string> =>
  scalar({
    type: 'loopback host:port',
    allowed: 'host:port of this host, such as 127.0.0.1:38081, a port of 0 to 65535 (0 = any free one)',
    placeholder: 'host:port',
    schema: () =>
      z.string().refine((address) => {
        const parts = splitAddress(address);
        return parts !== undefined && isLoopback(parts.host);
      }),
  });

/** Parses a value of `inspection_addr`. */
export const tcpAddress = (address: string): TcpAddress => {
  const parts = splitAddress(address);
  if (!parts) throw new TypeError(`${address} is not host:port`);
  return parts;
};

/** Parses a value of `http_addr`. */
export const listenAddress = (address: string): TcpAddress | { path: string } => {
  const path = socketPath(address);
  return path === undefined ? tcpAddress(address) : { path };
};

export const proportion = (): Kind<number> =>
  scalar({
    type: 'number 0..1',
    allowed: 'a number from 0 to 1',
    placeholder: 'n',
    schema: () =>
      z
        .union([
          z.number(),
          z
            .string()
            .regex(/^(\d+(\.\d*)?|\.\d+)$/)
            .transform(Number),
        ])
        .pipe(z.number().min(0).max(1)),
  });

export const issuers = (): Kind<IssuerSpec[]> => ({
  type: 'JSON list',
  allowed: 'a list of issuers, as JSON',
  placeholder: 'json',
  // Text that is not JSON has no part of a list, so the schema rejects it as a whole.
  fromText: (list) => (list.trim() === '' ? undefined : (jsonOrUndefined(list) ?? list)),
  schema: issuerSpecs,
  parts: true,
});

export const fieldNames = (): Kind<string[]> => ({
  type: 'list of field names',
  allowed: 'a comma separated list of names of fields',
  placeholder: 'name,…',
  fromText: itemsOf,
  schema: () => z.array(z.string().min(1)),
});

/** A name of RFC 9110, in lower case. */
const HeaderName = z
  .string()
  .trim()
  .regex(/^[!#$%&'*+.^_`|~\w-]{1,128}$/)
  .toLowerCase();

export const headerNames = (): Kind<string[]> => ({
  type: 'header names',
  allowed: 'a comma separated list of names of headers',
  placeholder: 'header,…',
  fromText: itemsOf,
  schema: () => z.array(HeaderName),
});

export const globs = (): Kind<string[]> => ({
  type: 'globs',
  allowed: 'a comma separated list of ids, in which * matches any characters',
  placeholder: 'glob,…',
  fromText: itemsOf,
  schema: () => z.array(z.string().refine(isGlob)),
});

function isGlob(text: string): boolean {
  try {
    compileGlob(text);
    return true;
  } catch {
    return false;
  }
}

export const isOnLoopback = (address: string): boolean => {
  const listening = listenAddress(address);
  return 'host' in listening && isLoopback(listening.host);
};
