import { setTimeout as pause } from 'node:timers/promises';
import { isToolUIPart } from 'ai';
import t, { type Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import { catchUp, enter, isBusy, look, retry, stop } from '../../src/react/catch-up.ts';
import { LONG } from '../long.ts';
import fc from '../random.ts';
import type { Inference } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { createLocks, history, openTab, rest, shown, type Tab } from './tabs.ts';

/**
 * Two tabs perform random user actions on one thread at random times. When no work is left, both show what the service
 * has, nothing was executed twice, and every request of a waiting run can be answered.
 */

const { troupe, tools } = await withTools(t);
const { models } = troupe;

const ACTS = [
  ...['say', 'say', 'decide', 'decide', 'decide', 'look', 'look', 'catchUp', 'leave', 'reload'],
  ...['stop', 'retry', 'regenerate'],
] as const;

type Act = (typeof ACTS)[number];

const steps = fc.array(
  fc.record({ act: fc.constantFrom(...ACTS), tab: fc.nat(1), yes: fc.boolean(), ms: fc.nat(18) }),
  { minLength: 10, maxLength: 16 },
);

const KINDS = ['text', 'risky', 'note', 'pick_color', 'both'] as const;

type Kind = (typeof KINDS)[number];

const CALLS: Record<Kind, readonly string[]> = {
  text: [],
  risky: ['risky'],
  note: ['note'],
  pick_color: ['pick_color'],
  both: ['risky', 'pick_color'],
};

/** The model makes calls with unique ids, or answers with text and ends. */
const inferenceOf =
  (threadId: string, kind: Kind, index: number): Inference =>
  async (sink, request, signal) => {
    await pause(index % 20);
    if (signal.aborted) throw new ModelError('cancelled', '');
    const names = request.messages.at(-1)?.role === 'tool' ? [] : CALLS[kind];
    const calls = names.map((tool, place) => ({ id: `${threadId}-${index}-${place}`, tool, args: {} }));
    return giveAnswer({ text: `said ${index}`, ...(calls.length > 0 && { calls }) }, sink);
  };

/** The history omits denied calls. Results for a step that still waits for others exist only in their tab. */
const wordsOf = (parts: readonly string[]): string[] =>
  parts
    .filter((part) => !part.endsWith('output-denied'))
    .map((part) =>
      part
        .replace('approval-responded', 'approval-requested')
        .replace(/^(tool-pick_color) output-available$/, '$1 input-available'),
    );

let played = 0;

const play = async (
  t: Test,
  todo: readonly { act: Act; tab: number; yes: boolean; ms: number }[],
  kinds: readonly Kind[],
): Promise<string[]> => {
  played += 1;
  const threadId = `played-${played}`;
  models.steps.splice(
    0,
    models.steps.length,
    ...kinds.map((kind, index) => inferenceOf(threadId, kind, index)),
  );
  const { alone } = createLocks();
  const executed: string[] = [];
  let executing = 0;
  const make = (): Promise<Tab> =>
    openTab(t, troupe, threadId, {
      alone,
      whileItRuns: true,
      tools: {
        async pick_color(_, { toolCallId }) {
          executed.push(toolCallId);
          executing += 1;
          await pause(5);
          executing -= 1;
          return 'red';
        },
      },
    });
  const tabs = [await make(), await make()];
  const leaves = tabs.map(({ leave }) => leave);
  const under: Promise<unknown>[] = [];
  for (const { act, tab: index, yes, ms } of todo) {
    const tab = tabs[index] ?? (await make());
    const again = async (): Promise<void> => {
      leaves[index]?.();
      const loaded = await make();
      tabs[index] = loaded;
      leaves[index] = loaded.leave;
    };
    const back = async (): Promise<void> => {
      leaves[index]?.();
      if (yes) await pause(ms);
      leaves[index] = enter(tab);
      t.teardown(() => leaves[index]?.());
      await catchUp(tab);
    };
    const decide = async (): Promise<void> => {
      const open = tab.chat.messages
        .flatMap(({ parts }) => parts)
        .find((part) => isToolUIPart(part) && part.state === 'approval-requested');
      const id = open && isToolUIPart(open) ? open.approval?.id : undefined;
      if (id !== undefined) await tab.chat.addToolApprovalResponse({ id, approved: yes });
    };
    const unless = async (isNot: boolean, doing: () => Promise<unknown>): Promise<unknown> =>
      isNot ? undefined : doing();
    const does: Record<Act, () => Promise<unknown>> = {
      say: () => unless(isBusy(tab), () => tab.chat.sendMessage({ text: `asked ${under.length}` })),
      look: () => look(tab),
      catchUp: () => catchUp(tab),
      stop: () => stop(tab),
      retry: () => unless(tab.chat.status !== 'error', () => retry(tab)),
      regenerate: () =>
        unless(!yes || isBusy(tab) || tab.chat.messages.length === 0, () => tab.chat.regenerate()),
      leave: back,
      reload: again,
      decide,
    };
    // The tab reports its errors.
    under.push(does[act]().catch(() => {}));
    // A user does not do two of these at once.
    if (act === 'leave' || act === 'reload') await under.at(-1);
    await pause(ms);
  }
  await Promise.all(under);
  // Until several consecutive checks have found nothing new.
  let there: string[] = [];
  for (let same = 0; same < 5; same += 1) {
    for (const tab of tabs) await look(tab);
    await pause(20);
    await rest(...tabs);
    const now = await history(troupe, threadId);
    if (executing > 0 || JSON.stringify(now) !== JSON.stringify(there)) same = 0;
    there = now;
  }
  const { body: run } = await troupe.call('GET', `/v1/threads/${threadId}/runs/latest`);
  const problems = tabs.flatMap((tab, index) =>
    JSON.stringify(wordsOf(shown(tab))) === JSON.stringify(wordsOf(there))
      ? []
      : [`tab ${index} (${tab.chat.status} ${tab.chat.error}) shows ${shown(tab).join(', ')}`],
  );
  const ofService = tools.executed.filter((id) => id.startsWith(`${threadId}-`));
  // Leaving or reloading loses results that a tab has produced while an approval is open.
  const isLeft = todo.some(({ act }) => act === 'leave' || act === 'reload');
  for (const ids of isLeft ? [ofService] : [executed, ofService])
    if (new Set(ids).size < ids.length) problems.push(`executed twice: ${ids.join(', ')}`);
  if (run.status === 'waiting' && !there.some((part) => part.endsWith('approval-requested')))
    problems.push('it waits for a tool of the page for ever');
  for (const leave of leaves) leave();
  await troupe.call('POST', `/v1/ai-sdk/threads/${threadId}/cancel`);
  return problems.length === 0 ? [] : [`${run.status}: ${there.join(', ')}`, ...problems];
};

t.test('two tabs show the same in the end', { timeout: 3_600_000 }, async (t) => {
  const kinds = fc.array(fc.constantFrom(...KINDS), { minLength: 40, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, kinds, async (todo, said) => {
      const problems = await play(t, todo, said);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    }),
    // Timing differs between executions, so a shrunk sequence would not reproduce the failure.
    { numRuns: LONG ? 500 : 12, endOnFailure: true },
  );
  t.ok(played > 0, `${played} were executed`);
});
