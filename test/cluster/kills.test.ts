import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { INTERRUPTED } from '../../src/loop/history.ts';
import { textOf } from '../../src/schema/message.ts';
import { startGate } from '../crash/gate.ts';
import { pick } from '../crash/random.ts';
import { readThread, type ThreadRecord } from '../crash/records.ts';
import { LONG } from '../long.ts';
import { SEED } from '../random.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { becomes, createMembers, eventually, isActive, type Member } from './services.ts';

/**
 * Built services whose active member is killed again and again, while clients send work to all of them (cluster.md 19.3,
 * checks 18 and 19): what was acknowledged is executed, and a tool that is not idempotent at most once.
 * TROUPE_TEST_LONG kills 100 times, TROUPE_CLUSTER_KILLS as often as it says.
 */

const KILLS = Number(process.env.TROUPE_CLUSTER_KILLS ?? (LONG ? 100 : 4));
const SENDERS = 4;
/** A member has this time to be killed in the middle of work. */
const LONGEST_LIFE_MS = 1500;

t.setTimeout(LONG ? 3_600_000 : 600_000);

t.test('a tool that ran when its member was killed', { skip: NO_POSTGRES }, async (t) => {
  const gate = await startGate(t);
  const postgres = await startPostgres(t);
  const url = postgres.url(postgres.createDatabase());
  const [active, standby] = await createMembers(t, ['a', 'b'], { url, gate: gate.url });
  if (!active || !standby) throw new Error('two members were expected');
  await active.start();
  await becomes(active, 'active');
  await standby.start();
  await becomes(standby, 'standby');
  const answer = await standby.client.ask('POST', '/v1/threads/long/mailbox', {
    payload: { text: '[l1] long' },
  });
  t.equal(answer?.status, 201);
  await gate.until(1);
  await active.kill();
  await becomes(standby, 'active');
  const { messages, runs } = await eventually('the run ends', async () => {
    const record = await readThread(standby.client, 'long');
    return record.runs[0]?.status === 'done' ? record : undefined;
  });
  t.match(runs, [{ run_id: String, termination_reason: { type: 'natural_end' } }]);
  t.strictSame(standby.executed(), [`l1-0 of run ${runs[0]?.run_id}`], 'the tool was executed once');
  t.strictSame(
    messages.map(({ role, content }) => [role, textOf(content)]),
    [
      ['user', '[l1] long'],
      ['assistant', ''],
      ['tool', INTERRUPTED],
      ['assistant', `answer to l1: ${INTERRUPTED}`],
    ],
    'the model received that the call was interrupted',
  );
  gate.open();
});

/** The results of the calls of one thread that may not be executed twice, by the lines that their executions write. */
const resultsOf = ({ messages, runs }: ThreadRecord): Map<string, string> => {
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  const once = new Set(calls.filter(({ name }) => name === 'once').map(({ id }) => id));
  const results = new Map<string, string>();
  for (const { tool_call_id: id, content } of messages)
    if (id !== undefined && once.has(id)) results.set(`${id} of run ${runs[0]?.run_id}`, textOf(content));
  return results;
};

t.test(`${KILLS} kills of the active member`, { skip: NO_POSTGRES }, async (t) => {
  const random = randomFrom(SEED);
  const postgres = await startPostgres(t);
  const url = postgres.url(postgres.createDatabase());
  const members = await createMembers(t, ['a', 'b', 'c'], { url });
  await Promise.all(members.map(({ start }) => start()));
  const findActive = (kills: number): Promise<Member> =>
    eventually(`a member is active behind ${kills} kills`, async () => {
      for (const member of members) if (await isActive(member)) return member;
      return undefined;
    });
  await findActive(0);

  const sent: { thread: string; isAcknowledged: boolean }[] = [];
  let isOver = false;
  const sender = async (): Promise<void> => {
    while (!isOver) {
      const thread = `k${sent.length}`;
      const entry = { thread, isAcknowledged: false };
      sent.push(entry);
      const answer = await pick(random, members).client.ask('POST', `/v1/threads/${thread}/mailbox`, {
        payload: { text: `[i${thread}] pair 3` },
      });
      entry.isAcknowledged = answer?.status === 201;
      await pause(entry.isAcknowledged ? 20 : 100);
    }
  };
  const senders = Array.from({ length: SENDERS }, sender);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const active = await findActive(kill);
    await pause(random() * LONGEST_LIFE_MS);
    await active.kill();
    await active.start();
  }
  isOver = true;
  await Promise.all(senders);

  const active = await findActive(KILLS);
  const acknowledged = sent.filter(({ isAcknowledged }) => isAcknowledged);
  t.ok(acknowledged.length > KILLS, `${acknowledged.length} of ${sent.length} were acknowledged`);
  const wrong: string[] = [];
  const results = new Map<string, string>();
  for (const { thread, isAcknowledged } of sent) {
    const record = await eventually(`the work of ${thread} ends`, async () => {
      const record = await readThread(active.client, thread);
      return record.runs.every(({ status }) => status === 'done') &&
        (record.runs.length > 0 || !isAcknowledged)
        ? readThread(active.client, thread)
        : undefined;
    });
    for (const [call, result] of resultsOf(record)) results.set(call, result);
    const { runs, messages } = record;
    const questions = messages.filter(({ role }) => role === 'user').length;
    if (questions !== runs.length || runs.length > 1 || (isAcknowledged && runs.length !== 1))
      wrong.push(`${thread}: ${questions} questions, ${runs.length} runs, ${isAcknowledged}`);
  }
  t.strictSame(wrong, [], `seed ${SEED}`);
  const executed = active.executed();
  t.equal(new Set(executed).size, executed.length, 'no call was executed twice');
  t.strictSame(
    executed.filter((call) => !results.has(call)),
    [],
    'each execution is that of a call',
  );
  const interrupted = [...results].filter(([, result]) => result === INTERRUPTED);
  const unexplained = [...results].filter(
    ([call, result]) => result !== INTERRUPTED && !(executed.includes(call) && result.startsWith('"did ')),
  );
  t.strictSame(unexplained, [], 'each call was executed, or its model received that it was interrupted');
  t.comment(
    `${acknowledged.length} inputs, ${results.size} calls, ${executed.length} executions, ${interrupted.length} interrupted`,
  );
});
