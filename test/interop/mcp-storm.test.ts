import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { LONG } from '../long.ts';
import { startPeer } from '../mcp/http-peer.ts';
import { EAGER, http, stdio } from '../mcp/manage.ts';
import { freePort } from '../ports.ts';
import { SEED } from '../random.ts';
import { eventually } from '../service/troupe.ts';
import { startMcpPlane } from './mcp-plane.ts';

/** Entries are written, deleted and restarted while their servers fail and recover, and agents call them. */

const ROUNDS = LONG ? 500 : 10;
const AT_ONCE = 4;

const IDS = ['a', 'b', 'c', 'd'];

t.test('keeps exactly one connection per entry after many concurrent changes', async (t) => {
  const peer = await startPeer(t, {}, await freePort());
  const plane = await startMcpPlane(t);
  const { troupe, get, post, put, del, use } = plane;
  const random = randomFrom(SEED);
  const below = (most: number): number => Math.floor(random() * most);
  let isOpen = true;
  const entryOf = (id: string) => {
    const more = { timeout_secs: 5 + below(5), ...EAGER };
    return id < 'c' ? stdio(id, { TOOLS: 'echo,pid,die' }, more) : http(id, peer.url, more);
  };
  /** The valid statuses of each write; any other is an error. */
  const allowed: Record<string, readonly number[]> = {
    create: [201, 400, 409],
    replace: [200, 400, 404, 409],
    remove: [204, 404, 409],
    restart: [202, 404, 503],
    status: [200, 404],
  };
  const wrong: unknown[] = [];
  const judge = (what: string, { status, body }: { status: number; body: unknown }): void => {
    if (!allowed[what]?.includes(status)) wrong.push([what, status, body]);
  };
  const acts: ((id: string) => Promise<void>)[] = [
    async (id) => judge('create', await post('/v1/config/mcp-servers', entryOf(id))),
    async (id) => judge('create', await post('/v1/config/mcp-servers', entryOf(id))),
    async (id) => judge('replace', await put(`/v1/config/mcp-servers/${id}`, entryOf(id))),
    async (id) => judge('remove', await del(`/v1/config/mcp-servers/${id}`)),
    async (id) => judge('restart', await post(`/v1/mcp-servers/${id}/restart`)),
    async (id) => judge('status', await get(`/v1/mcp-servers/${id}/status`)),
    async (id) => judge('status', await get(`/v1/mcp-servers/${id}/inventory`)),
    async (id) => void (await use(['c1', `mcp__${id}__die`])),
    async (id) => void (await use(['c1', `mcp__${id}__echo`, { message: 'x' }])),
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    if (below(4) === 0) {
      await (isOpen ? peer.close() : peer.open());
      isOpen = !isOpen;
    }
    await Promise.all(
      Array.from({ length: AT_ONCE }, () => acts[below(acts.length)]?.(IDS[below(IDS.length)] ?? 'a')),
    );
  }
  t.strictSame(wrong, []);
  if (!isOpen) await peer.open();

  const { items } = (await get('/v1/config/mcp-servers')).body as { items: { id: string }[] };
  for (const { id } of items) {
    await plane.until(id, ({ connected }) => connected);
    await plane.offers(`mcp__${id}__echo`);
    t.match(await use(['c1', `mcp__${id}__echo`, { message: 'x' }]), [{ outcome: 'succeeded' }]);
  }
  const connections = async (): Promise<string[]> => {
    const { body } = await troupe.admin('GET', '/v1/system/actors?machine=mcp-connection&limit=200');
    return (body.items as { id: string }[]).map(({ id }) => id);
  };
  await eventually(connections, (ids) => ids.length === items.length);
});
