import { noToolOutput, OpenAiError } from '../../protocols/openai/errors.ts';
import { callId, inputItemId, parseCallId } from '../../protocols/openai/ids.ts';
import { type InputEntry, outputValue } from '../../protocols/openai/input.ts';
import { decideAll, type Waits } from '../../protocols/openai/waits.ts';
import type { DecisionInput } from '../../runtime/index.ts';
import type { StoredInput, StoredResponse } from '../../schema/stored-response.ts';

/** Results and approvals in the input of a response, as decisions on the run that waits (openai-responses.md 7.2). */

export const unknownRequest = ({ request, at }: Extract<InputEntry, { kind: 'approval' }>): OpenAiError =>
  new OpenAiError(404, `Approval request with id '${request}' not found.`, {
    param: `${at}.approval_request_id`,
  });

type Answers = { decisions: DecisionInput[]; inputs: StoredInput[] };

/** @throws OpenAiError when the results of some calls are missing */
export const outputsFor = (
  { calls }: Waits,
  rows: readonly StoredResponse[],
  entries: readonly InputEntry[],
): Answers => {
  const outputs = entries.flatMap((entry) => (entry.kind === 'output' ? [entry] : []));
  const numbers = new Map(rows.flatMap(({ items }) => items.map(({ call, n }) => [call, n] as const)));
  const run_id = rows[0]?.run_id ?? '';
  const answers: Answers = { decisions: [], inputs: [] };
  for (const { tool_call_id, ticket_id } of calls) {
    const number = numbers.get(tool_call_id);
    const isOf = (call_id: string): boolean =>
      call_id === tool_call_id || (number !== undefined && parseCallId(call_id)?.ordinal === number);
    const index = outputs.findIndex(({ call_id }) => isOf(call_id));
    const output = outputs[index];
    const shown = rows.flatMap(({ items }) => items).find(({ call }) => call === tool_call_id);
    if (!output) throw noToolOutput(publicCall(run_id, number, shown?.id, tool_call_id), 'input');
    const payload = outputValue(output.text);
    answers.decisions.push({ tool_call_id: ticket_id, action: 'resume', payload, form: 'output' });
    answers.inputs.push({
      type: 'output',
      id: inputItemId({ prefix: 'fco', run_id, ordinal: ordinalOf(rows.length + 1, index) }),
      call: tool_call_id,
      call_id: output.call_id,
    });
  }
  return answers;
};

/** The id that the client knows. */
const publicCall = (
  run_id: string,
  number: number | undefined,
  shown: string | undefined,
  id: string,
): string => (number === undefined || shown === undefined ? id : callId({ run_id, ordinal: number }));

/** @throws OpenAiError 404 for a request that is not open */
export const approvalsFor = (
  { permissions }: Waits,
  rows: readonly StoredResponse[],
  entries: readonly InputEntry[],
): Answers => {
  const calls = new Map(rows.flatMap(({ items }) => items.map(({ id, call }) => [id, call] as const)));
  const run_id = rows[0]?.run_id ?? '';
  const answers: Answers = { decisions: [], inputs: [] };
  for (const [index, entry] of entries.entries()) {
    if (entry.kind !== 'approval') continue;
    const { request, approve, reason } = entry;
    const ticket = permissions.find(({ tool_call_id }) => tool_call_id === calls.get(request));
    if (!ticket) throw unknownRequest(entry);
    answers.decisions.push(
      ...decideAll([ticket], approve ? { approves: true } : { approves: false, reason }),
    );
    answers.inputs.push({
      type: 'approval',
      id: inputItemId({ prefix: 'mcpa', run_id, ordinal: ordinalOf(rows.length + 1, index) }),
      request,
      approve,
      ...(reason !== undefined && { reason }),
    });
  }
  return answers;
};

/** Items of one leg have 12 bits. */
const ITEMS_OF_LEG = 4096;

/** Number of an item of the input among those of all legs of its run. */
export const ordinalOf = (leg: number, index: number): number => leg * ITEMS_OF_LEG + index;
