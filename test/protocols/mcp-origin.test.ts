import t from 'tap';
import type { Entry } from '../../src/http/origin.ts';
import { createCallerCheck, createHostChecks } from '../../src/protocols/mcp/origin.ts';

/** The hosts that requests of MCP may name (mcp.md A3). */

const LOCAL: Entry = { scheme: 'http', isLocalListener: true, isHostAccepted: true };
const OPEN: Entry = { ...LOCAL, isLocalListener: false };

const checkOf = (listening: string, names: readonly string[] = []) =>
  createCallerCheck({ acceptsHost: createHostChecks({ listening, names, publicUrls: [] }), origins: [] });

t.test('checks the host by the listener that accepted the request', async (t) => {
  const local = checkOf('127.0.0.1');
  t.match(local.host('b.test', undefined), { message: /Host header/ });
  t.equal(local.host('b.test', OPEN), undefined);
  t.equal(local.host('localhost:80', LOCAL), undefined);

  const open = checkOf('0.0.0.0');
  t.equal(open.host('b.test', undefined), undefined);
  t.match(open.host('b.test', LOCAL), { message: /Host header/ });
});

t.test('requires an allowed name at every listener once names are set', async (t) => {
  const named = checkOf('0.0.0.0', ['a.test']);
  for (const entry of [undefined, LOCAL, OPEN]) {
    t.equal(named.host('a.test', entry), undefined);
    t.match(named.host('b.test', entry), { message: /Host header/ });
  }
});
