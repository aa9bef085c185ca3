import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { onAgentEditor } from './on-agent-editor.ts';
import { onAgents } from './on-agents.ts';
import { onChat } from './on-chat.ts';
import { onContract } from './on-contract.ts';
import { onDatasets } from './on-datasets.ts';
import { onEntries } from './on-entries.ts';
import { onEveryScreen } from './on-every-screen.ts';
import { onFiles } from './on-files.ts';
import { onInbox } from './on-inbox.ts';
import { onMachines } from './on-machines.ts';
import { onPlugins } from './on-plugins.ts';
import { onPrograms } from './on-programs.ts';
import { onRunDetail } from './on-run-detail.ts';
import { onRuns } from './on-runs.ts';
import { onShell } from './on-shell.ts';
import { onTalk } from './on-talk.ts';
import { onThreads } from './on-threads.ts';
import { onTraces } from './on-traces.ts';
import { startHouse } from './visit.ts';

/** The console with its user, in a real browser, on a real service: one of each for all that follows. */

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  t.setTimeout(600_000);
  const house = await startHouse(t);
  await t.test('around all screens', (t) => onShell(t, house));
  await t.test('the editor of agents', (t) => onAgentEditor(t, house));
  await t.test('many agents at once', (t) => onAgents(t, house));
  await t.test('plugins and skills', (t) => onPlugins(t, house));
  await t.test('conversations', (t) => onChat(t, house));
  await t.test('files in conversations', (t) => onFiles(t, house));
  await t.test('what conversations leave behind', (t) => onTalk(t, house));
  await t.test('what tests of others find it by', (t) => onContract(t, house));
  await t.test('infrastructure, tools and evaluations', (t) => onEntries(t, house));
  await t.test('datasets', (t) => onDatasets(t, house));
  await t.test('runs', (t) => onRunDetail(t, house));
  await t.test('the list of runs', (t) => onRuns(t, house));
  await t.test('the inbox', (t) => onInbox(t, house));
  await t.test('threads', (t) => onThreads(t, house));
  await t.test('traces', (t) => onTraces(t, house));
  await t.test('what moves beside runs', (t) => onMachines(t, house));
  await t.test('programs of others', (t) => onPrograms(t, house));
  await t.test('every screen', (t) => onEveryScreen(t, house));
}
