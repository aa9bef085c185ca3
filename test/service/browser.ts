import type { Answer, Client } from './troupe.ts';

/** A browser that reaches the service through a proxy with https, and keeps the cookies of the service. */
export type Browser = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  readonly cookies: Map<string, string>;
  /** The header that its requests have. */
  cookie(): string;
};

/** The name under which the browser reaches the service. */
export const ORIGIN = 'https://agents.example';

/** A page of the service sends the requests, unless `headers` state another source. */
export const openBrowser = ({ call }: Pick<Client, 'call'>): Browser => {
  const cookies = new Map<string, string>();
  const cookie = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    cookies,
    cookie,
    async call(method, path, body, headers = {}) {
      const answer = await call(method, path, body, {
        ...THROUGH_PROXY,
        'sec-fetch-site': 'same-origin',
        'user-agent': 'Test browser',
        ...(cookies.size > 0 && { cookie: cookie() }),
        ...headers,
      });
      for (const line of answer.headers.getSetCookie()) store(cookies, line);
      return answer;
    },
  };
};

/** The headers that the proxy adds. */
export const THROUGH_PROXY = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'agents.example',
  'x-forwarded-for': '192.0.2.7',
};

const store = (cookies: Map<string, string>, line: string): void => {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  if (/; Max-Age=0(;|$)/.test(line)) cookies.delete(name);
  else cookies.set(name, value);
};
