import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { onChat } from './on-chat.ts';
import { onFiles } from './on-files.ts';
import { onInbox } from './on-inbox.ts';
import { onMachines } from './on-machines.ts';
import { onPlayground } from './on-playground.ts';
import { onRunDetail } from './on-run-detail.ts';
import { onRuns } from './on-runs.ts';
import { onTalk } from './on-talk.ts';
import { onThreads } from './on-threads.ts';
import { onTraces } from './on-traces.ts';
import { startHouse } from './visit.ts';

/** Browser tests of the screens of conversations and runs. All of them share one service and one browser. */

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);
  await t.test('conversations', (t) => onChat(t, house));
  await t.test('the playground', (t) => onPlayground(t, house));
  await t.test('files in conversations', (t) => onFiles(t, house));
  await t.test('effects of conversations', (t) => onTalk(t, house));
  await t.test('the run screen', (t) => onRunDetail(t, house));
  await t.test('the list of runs', (t) => onRuns(t, house));
  await t.test('the inbox', (t) => onInbox(t, house));
  await t.test('threads', (t) => onThreads(t, house));
  await t.test('traces', (t) => onTraces(t, house));
  await t.test('connections and remote tasks', (t) => onMachines(t, house));
}
