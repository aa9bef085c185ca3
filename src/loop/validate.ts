import type { Acted, Validated } from '../../machines/run-types.ts';
import { isPartBlock } from '../schema/answer-part.ts';
import { inexactInteger, inexactText } from '../schema/exact-integers.ts';
import type { Json } from '../schema/json.ts';
import { fromObject } from '../schema/output.ts';
import { outputProblems } from '../tools/output-check.ts';
import type { ActOutcome } from './act.ts';
import {
  noteOutputProgress,
  type OutputPlan,
  outputProgress,
  type WantedOutput,
  wantedOutput,
} from './output.ts';
import { sendHeld } from './result-call.ts';
import { hasNoRoundLeft } from './rounds.ts';
import { mustWait } from './tasks.ts';
import { type Answer, produce, type Step, type Turn } from './turn.ts';

/**
 * The validation of a structured result (structured-results.md).
 *
 * Guarantees: a fitting value is stored as an assistant message whose text is its JSON, in every mode. An answer that
 * must be repeated is in the history for the model only. A validation is durable only with the commit of the step, so a
 * crash repeats the inference.
 */

/** Extracts the result from an answer that has ended. `isCut`: the model reached its output limit. */
export const takeResult = (turn: Turn, step: Step, plan: OutputPlan | undefined, isCut: boolean): void => {
  turn.answer = undefined;
  if (!plan) return;
  const called = step.result;
  step.result = undefined;
  if (turn.calls.length > 0) {
    sendHeld(turn, step);
    if (called !== undefined) noteOutputProgress(turn, { waiting: called });
    return;
  }
  const cut = isCut && { problem: CUT };
  if (called === undefined) {
    turn.answer = { message_id: step.message_id, mode: plan.mode, text: step.text, ...cut };
    return;
  }
  const read = readArguments(called, plan);
  step.text = read.text;
  step.unsent = read.text;
  turn.answer = { message_id: step.message_id, mode: plan.mode, ...read, ...cut };
};

const CUT = 'cut off at the output limit';

/** Returns the text of the result from the arguments of its call. */
const readArguments = (args: string, { schema }: WantedOutput): Pick<Answer, 'text' | 'problem'> => {
  const parsed = parse(args.trim() === '' ? '{}' : args);
  if (parsed === undefined) return { text: args, problem: 'is not JSON' };
  const value = fromObject(schema, parsed);
  return value === undefined
    ? { text: args, problem: "/result: is missing: the result is the value of 'result'" }
    : { text: JSON.stringify(value) };
};

/** Processes a result call whose accompanying tool calls have been executed, or are suspended. */
export const afterCalls = async (turn: Turn, outcome: ActOutcome, signal: AbortSignal): Promise<Acted> => {
  const { waiting } = outputProgress(turn);
  const wanted = wantedOutput(turn);
  if (waiting === undefined || outcome.kind === 'blocked') return outcome;
  noteOutputProgress(turn, { waiting: undefined });
  const failed = turn.calls.find(({ status }) => status !== 'succeeded');
  if (failed) {
    const what = outcome.kind === 'suspended' ? 'waits' : 'failed';
    note(
      turn,
      `Your result was not taken: the call of '${failed.call.name}', which came with it, ${what}. Give the result again when nothing is left to do.`,
    );
    return outcome;
  }
  if (!wanted) return outcome;
  const read = readArguments(waiting, wanted);
  const message_id = turn.ids.uuid();
  produce(turn, { id: message_id, role: 'assistant', content: [{ type: 'text', text: read.text }] });
  turn.answer = { message_id, mode: 'tool', ...read };
  turn.answered = true;
  turn.response = read.text;
  if (turn.step) turn.step.unsent = read.text;
  return { kind: (await mustWait(turn, signal)) ? 'pending_work' : 'answered' };
};

export const validate = async (turn: Turn, signal: AbortSignal): Promise<Validated> => {
  const wanted = wantedOutput(turn);
  if (!wanted) return { kind: 'fits' };
  const answer = turn.answer ?? {
    message_id: turn.step?.message_id ?? '',
    mode: 'prompt',
    text: turn.response,
  };
  const found = await resultIn(answer, wanted);
  if (signal.aborted) return { kind: 'repair' };
  if ('problems' in found) return askAgain(turn, { answer, wanted, problems: found.problems });
  turn.observe.outputs.ended(answer.mode, 'valid');
  keepText(turn, answer, found.text);
  turn.structured = { value: found.value };
  noteOutputProgress(turn, { forced: false });
  return { kind: 'fits' };
};

type Found = { value: Json; text: string } | { problems: readonly string[] };

const resultIn = async ({ text, problem }: Answer, { schema }: WantedOutput): Promise<Found> => {
  if (problem !== undefined) return { problems: [problem] };
  let problems: readonly string[] | undefined;
  for (const candidate of candidatesIn(text)) {
    const value = parse(candidate);
    if (value === undefined) continue;
    const inexact = inexactInteger(candidate);
    const wrong = inexact === undefined ? await outputProblems(schema, value) : [inexactText(inexact)];
    if (wrong.length === 0) return { value, text: candidate.trim() };
    problems ??= wrong;
  }
  return { problems: problems ?? ['is not JSON'] };
};

/** Returns the whole text, its code block, and the text between its first and its last bracket. */
const candidatesIn = (text: string): string[] => {
  const fenced = fencedIn(text);
  const from = text.search(/[[{]/);
  const to = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  const between = from >= 0 && to > from ? text.slice(from, to + 1) : undefined;
  return [...new Set([text, fenced, between].filter((each) => each !== undefined))];
};

const FENCE = '```';

/** A single regular expression would take quadratic time in the length of the text. */
const fencedIn = (text: string): string | undefined => {
  const opened = text.indexOf(FENCE);
  const begins = opened < 0 ? -1 : text.indexOf('\n', opened);
  const ends = begins < 0 ? -1 : text.indexOf(FENCE, begins);
  return ends < 0 ? undefined : text.slice(begins + 1, ends);
};

const parse = (text: string): Json | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    // The text of a model need not be JSON.
    return undefined;
  }
};

/** Reduces the message to the text of the result. If readers already have the text, it stays unchanged. */
const keepText = (turn: Turn, { message_id, text: before }: Answer, text: string): void => {
  const { step } = turn;
  const wasSent = !step || (step.unsent === '' && before !== '');
  if (wasSent || before === text) return;
  const index = turn.produced.findIndex(({ id }) => id === message_id);
  const message = turn.produced[index];
  if (!message) return;
  const parts = message.content.filter(isPartBlock);
  turn.produced[index] = { ...message, content: [{ type: 'text', text }, ...parts] };
  turn.response = text;
  step.text = text;
  step.unsent = text;
};

type Refused = { answer: Answer; wanted: WantedOutput; problems: readonly string[] };

const askAgain = (turn: Turn, { answer, wanted, problems }: Refused): Validated => {
  const { repairs, tries } = outputProgress(turn);
  const [first = 'does not fit'] = problems;
  if (tries >= wanted.options.repairs || hasNoRoundLeft(turn)) {
    turn.observe.outputs.ended(answer.mode, 'invalid');
    return {
      kind: 'exhausted',
      ending: { type: 'stopped', value: { code: 'invalid_output', detail: first } },
    };
  }
  turn.observe.outputs.repaired();
  takeBack(turn, answer);
  noteOutputProgress(turn, { repairs: repairs + 1, tries: tries + 1, forced: true });
  const list = problems.map((problem) => `- ${problem}`).join('\n');
  note(turn, `Your result does not fit what was asked for:\n${list}\nGive the whole result again.`);
  turn.answered = false;
  turn.response = '';
  return { kind: 'repair' };
};

/** Readers drop the answer, and the history keeps it for the model only. */
const takeBack = (turn: Turn, { message_id }: Answer): void => {
  const { step } = turn;
  const index = turn.produced.findIndex(({ id }) => id === message_id);
  const message = turn.produced[index];
  if (!message || !step) return;
  turn.produced[index] = { ...message, visibility: 'internal' };
  if (step.unsent === '' && step.text !== '') {
    turn.stream.emit({ event_type: 'stream_reset', reason: 'invalid output', text: step.text });
  }
  step.unsent = '';
};

const note = (turn: Turn, text: string): void => {
  produce(turn, {
    id: turn.ids.uuid(),
    role: 'user',
    content: [{ type: 'text', text }],
    visibility: 'internal',
  });
};
