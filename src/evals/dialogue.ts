import { type DialogueTurn, type Expectation, type Fixture, MOST } from '../schema/dataset.ts';
import { Invalid } from '../schema/outcome.ts';
import { createFixture, createScript, type Excerpt, findProblem, type ScriptMode } from './curate.ts';

/** Combines runs of one thread into the turns of one test case (evals-and-traces.md 4.9). */

export type DialogueRun = { run_id: string; excerpt: Excerpt };

export type DialogueRequest = {
  fixture_id?: string | undefined;
  description?: string | undefined;
  expected: Expectation;
  mode: ScriptMode;
  allow_unused?: boolean | undefined;
};

/** @throws Invalid */
export const stitch = (runs: readonly DialogueRun[], request: DialogueRequest): Fixture => {
  const [first, ...others] = runs;
  if (!first) throw new Invalid('run_ids must be non-empty');
  const { mode, expected, allow_unused } = request;
  const opening = turnOf(first, first, mode);
  const model = modelOf(runs);
  const tool_results = runs.flatMap(({ excerpt }) => excerpt.tool_results);
  if (tool_results.length > MOST.results)
    throw new Invalid(
      `tools answered ${tool_results.length} times in these runs; a fixture has at most ${MOST.results} results`,
    );
  return createFixture(
    {
      id: request.fixture_id ?? first.run_id,
      description: request.description ?? `Stitched dialogue from ${runs.length} runs`,
      user_input: opening.user_input,
      source_run_id: first.run_id,
      expect: expected,
      allow_unused_provider_script: allow_unused,
      continued_turns: others.map((run) => turnOf(run, first, mode)),
    },
    { model, tool_results },
    { provider_script: opening.provider_script, provider_script_error: opening.provider_script_error },
  );
};

const turnOf = ({ run_id, excerpt }: DialogueRun, first: DialogueRun, mode: ScriptMode): DialogueTurn => {
  const problem = findProblem(excerpt, mode);
  if (problem !== undefined) throw new Invalid(`curating trace ${run_id}: ${problem}`);
  const { thread_id, user_input } = excerpt;
  if (thread_id !== first.excerpt.thread_id)
    throw new Invalid(
      `run ${run_id} has thread_id='${thread_id}', the first one thread_id='${first.excerpt.thread_id}': the runs of ` +
        'a dialogue are of one thread',
    );
  if (user_input === undefined)
    throw new Invalid(`run ${run_id} has no input of a user in captured request_messages`);
  return { user_input, ...createScript(excerpt, mode) };
};

/** Runs without a known model do not conflict with the others. */
const modelOf = (runs: readonly DialogueRun[]): string | undefined => {
  let known: string | undefined;
  for (const { run_id, excerpt } of runs) {
    if (known !== undefined && excerpt.model !== undefined && excerpt.model !== known)
      throw new Invalid(
        `run ${run_id} has source_model_id='${excerpt.model}', those before it source_model_id='${known}': the runs ` +
          'of a dialogue are of one model',
      );
    known ??= excerpt.model;
  }
  return known;
};
