import t from 'tap';
import { randomFrom } from '../../../src/load-generator/random.ts';
import { LONG } from '../../long.ts';
import { SEED } from '../../random.ts';
import { eventually, startTroupe } from '../troupe.ts';
import { type McpSession, type Messages, mcpClient, type Rpc, rpc, text } from './mcp.ts';

/**
 * Many concurrent clients that perform all actions, some of them disconnecting in between: responses are never mixed
 * up, and no resources remain.
 */

const CLIENTS = LONG ? 200 : 16;
const ROUNDS = LONG ? 100 : 5;

type Story = { random: () => number; session: McpSession; wrong: string[]; serial: number };

const below = ({ random }: Story, most: number): number => Math.floor(random() * most);

const check = ({ wrong }: Story, holds: boolean, what: string): void => {
  if (!holds) wrong.push(what);
};

const ended = async (stream: Messages): Promise<Rpc | undefined> =>
  (await stream.rest()).findLast(({ result, error }) => result ?? error);

/** The actions of a client; each checks its results. */
const acts: ((story: Story) => Promise<void>)[] = [
  async (story) => {
    const said = `${story.session.id} ${story.serial}`;
    const { answer } = await story.session.callToEnd('echo', { message: said });
    check(story, text(answer) === `echo: ${said}`, `answered ${text(answer)} to ${said}`);
  },
  async (story) => {
    const id = `s${story.serial}`;
    const stream = await story.session.call('slow', { message: 'x' }, { id });
    const { status } = await story.session.notify('notifications/cancelled', { requestId: id });
    check(story, status === 202, `cancelled with ${status}`);
    // The call may have ended before.
    const { id: answered = id } = (await ended(stream)) ?? {};
    check(story, answered === id, `${id} was answered as ${answered}`);
  },
  async (story) => {
    const stream = await story.session.call('slow', { message: 'x' }, { id: `l${story.serial}` });
    await stream.close();
  },
  async (story) => {
    const { result } = await story.session.ask('tools/list');
    check(story, Array.isArray(result?.tools), 'no tools');
  },
  async (story) => {
    const { status } = await story.session.post(below(story, 2) ? '{' : rpc(null, 'ping'));
    check(story, status === 400, `nonsense was taken with ${status}`);
  },
  async (story) => {
    await story.session.ask('logging/setLevel', { level: below(story, 2) ? 'debug' : 'emergency' });
  },
];

t.test('leaves every session idle and answers each call correctly under load', async (t) => {
  const troupe = await startTroupe(t, { settings: { max_concurrent_runs: 10_000 } });
  const { open } = mcpClient(() => troupe.url);
  const random = randomFrom(SEED);
  const wrong: string[] = [];
  let calm = false;
  const releasing = (async () => {
    while (!calm) {
      troupe.models.releaseAll();
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const play = async (): Promise<McpSession> => {
    const story: Story = { random, session: await open(), wrong, serial: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const chosen = Array.from({ length: 3 }, () => acts[below(story, acts.length)]);
      const leaves = below(story, 8) === 0;
      const playing = chosen.map((act, index) =>
        // Calls of ended sessions are not checked.
        act?.({ ...story, serial: 3 * round + index, wrong: leaves ? [] : wrong }),
      );
      if (!leaves) {
        await Promise.all(playing);
        continue;
      }
      const left = story.session;
      check(story, (await left.end()).status === 204, 'a session that there was is unknown');
      await Promise.allSettled(playing);
      check(story, (await left.post(rpc('p', 'ping'))).status === 404, 'a session that ended is known');
      story.session = await open();
    }
    return story.session;
  };
  const sessions = await Promise.all(Array.from({ length: CLIENTS }, play));
  t.strictSame(wrong, []);
  const actors = async (state: string) => {
    const { body } = await troupe.admin(
      'GET',
      `/v1/system/actors?machine=mcp-session&state=${state}&limit=200`,
    );
    return (body.items as unknown[]).length;
  };
  await eventually(
    () => actors('open.idle'),
    (idle) => idle === CLIENTS,
  );
  t.equal(await actors('open.busy'), 0);
  for (const session of sessions) await session.end();
  t.equal(await actors('open.idle'), 0);
  calm = true;
  await releasing;
});
