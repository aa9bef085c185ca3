import type { Test } from 'tap';
import { ADMIN_TOKEN, type Answer, startDemo, type Troupe, type TroupeOptions } from '../troupe.ts';

/** A real service, and a client with the admin token. */

type Send = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

export type Plane = {
  troupe: Troupe;
  get: Send;
  post: Send;
  put: Send;
  patch: Send;
  del: Send;
  /** Events of the audit log, newest first. */
  audit(query?: string): Promise<Record<string, unknown>[]>;
};

export const startPlane = async (t: Test, options: TroupeOptions = {}): Promise<Plane> =>
  planeOf(await startDemo(t, options));

export const planeOf = (troupe: Troupe): Plane => {
  const send =
    (method: string): Send =>
    (path, body, headers) =>
      troupe.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers });
  const get = send('GET');
  return {
    troupe,
    get,
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
    del: send('DELETE'),
    async audit(query = '') {
      return listOf((await get(`/v1/audit-log${query}`)).body.items);
    },
  };
};

/** A list of JSON objects; anything else becomes an empty list, which no test expects. */
export const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);

export const idsOf = (value: unknown): unknown[] => listOf(value).map(({ id }) => id);

/** A save requests no model list from the adapter `groq`. */
export const provider = (id: string, more: object = {}) => ({
  id,
  adapter: 'groq',
  api_key: `key-of-${id}`,
  ...more,
});

export const model = (id: string, provider_id = 'main', more: object = {}) => ({
  id,
  provider_id,
  upstream_model: `${id}-upstream`,
  ...more,
});
