import type { Test } from 'tap';
import { createPrincipal } from '../../src/schema/principal.ts';
import { withTools } from './suspended.ts';
import type { TestTools } from './tools.ts';
import type { Answer, Troupe, TroupeOptions } from './troupe.ts';

/** A service whose requests act for the user that a header names: `<scope>/<user> <grants>`. */

const HEADER = 'x-test-user';

export type User = {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** The header that names the user. */
  head: Record<string, string>;
};

export type Users = Troupe & { tools: TestTools; user(id: string, ...grants: string[]): User };

export const withUsers = async (t: Test, options: TroupeOptions = {}): Promise<Users> => {
  const { troupe, tools } = await withTools(t, {
    ...options,
    app: {
      ...options.app,
      authenticate({ header }) {
        const given = header(HEADER);
        if (given === undefined) return undefined;
        const [name = '', ...grants] = given.split(' ');
        const [scope = '', user = ''] = name.split('/');
        return createPrincipal({ scope, user, grants });
      },
    },
    settings: { ...options.settings, identity: { anonymous: 'always' } },
  });
  return Object.assign(troupe, {
    tools,
    user(id: string, ...grants: string[]): User {
      const name = id.includes('/') ? id : `default/${id}`;
      const head = { [HEADER]: [name, ...(grants.length > 0 ? grants : ['member'])].join(' ') };
      const call: User['call'] = (method, path, body, headers = {}) =>
        troupe.call(method, path, body, { ...headers, ...head });
      return {
        call,
        get: (path) => call('GET', path),
        post: (path, body) => call('POST', path, body),
        head,
      };
    },
  });
};

/** Starts a run of `echo` and reads its stream to the end. */
export const runEcho = (user: User, threadId: string, more: object = {}) =>
  user.post('/v1/runs', {
    agentId: 'echo',
    threadId,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });
