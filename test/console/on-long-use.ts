import type { CDPSession, Page } from 'playwright-core';
import type { Test } from 'tap';
import { heapOf } from '../../bench/main-thread.ts';
import { LONG } from '../long.ts';
import { asks } from '../service/models.ts';
import { ASKS_FIRST, ask, askWith, headers } from './ask.ts';
import type { House } from './visit.ts';

/** Memory that a page keeps of the screens that it has left. These tests run last: they replace the clock of the tab. */

/** No screen, so that only the shell has nodes and listeners. */
const NOWHERE = '/no-such-screen';

/** Longer than cached reads are kept without a reader. */
const CACHED_MS = 6 * 60_000;

/** Compiled code of functions that become hot, which is part of the heap, but no leak. */
const MOST_GROWTH = 1.1;

/** The first rounds load programs and charts, and compile them. */
const FIRST_ROUNDS = 2;

const MORE_ROUNDS = LONG ? 10 : 2;

/** The count of listeners of the shell differs by one; a leak adds one in each round. */
const SPARE = 1;

/** The responses that have begun and not ended. */
const countStreams = (page: Page): (() => number) => {
  const open = new Set<unknown>();
  page.on('response', (answer) => {
    if (answer.headers()['content-type']?.startsWith('text/event-stream')) open.add(answer.request());
  });
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => open.delete(request));
  return () => open.size;
};

export const onLongUse = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const agent = { ...ASKS_FIRST, id: 'asks-for-long' };
  await troupe.call('POST', '/v1/config/agents', agent, headers);
  const ended = await ask(troupe, agent.id, 'What is new?');
  const waiting = await askWith(troupe, agent.id, asks(['for-long', 'get_weather', { location: 'Oslo' }]));
  const screens = [
    '/',
    '/agents',
    `/agents/${agent.id}?tab=tools`,
    '/models?edit=default',
    '/statecharts',
    '/statecharts/run',
    '/runs',
    `/runs/${waiting.run_id}`,
    `/runs/${ended.run_id}`,
    '/inbox',
    `/threads/${ended.thread_id}`,
    `/playground?agent=${agent.id}&thread=${ended.thread_id}`,
    '/system',
  ];

  t.test('keeps no nodes, listeners, streams or reads of screens that were left', async (t) => {
    const { page, go, rest, context } = await house.visit(t);
    const streams = countStreams(page);
    await go(NOWHERE);
    await page.clock.install();
    const session: CDPSession = await context.newCDPSession(page);
    await session.send('Performance.enable');
    const walk = async (): Promise<void> => {
      for (const path of screens) {
        await go(path);
        await rest();
      }
      await go(NOWHERE);
      await page.clock.fastForward(CACHED_MS);
      await rest();
    };
    /** A node that the garbage collection finds only later is no leak. */
    const measure = async () => {
      const found = [await heapOf(session), await heapOf(session), await heapOf(session)];
      const least = (key: 'bytes' | 'nodes' | 'listeners') => Math.min(...found.map((one) => one[key]));
      return {
        bytes: least('bytes'),
        nodes: least('nodes'),
        listeners: least('listeners'),
        streams: streams(),
      };
    };
    for (let round = 0; round < FIRST_ROUNDS; round += 1) await walk();
    const before = await measure();
    for (let round = 0; round < MORE_ROUNDS; round += 1) await walk();
    const after = await measure();
    for (const kept of ['nodes', 'listeners', 'streams'] as const)
      t.ok(after[kept] <= before[kept] + SPARE, `${before[kept]} ${kept}, then ${after[kept]}`);
    t.ok(after.bytes <= before.bytes * MOST_GROWTH, `${before.bytes} bytes, then ${after.bytes}`);
    await session.detach();
  });
};
