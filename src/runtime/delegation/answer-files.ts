import { isPartBlock, type PartBlock } from '../../schema/answer-part.ts';
import type { Run } from '../../schema/run.ts';
import type { Store } from '../../store/index.ts';

/** Returns the files, URLs and data of the last answer of a run, for a caller that receives the answer as a result. */
export function answerFiles(
  store: Pick<Store, 'messages'>,
  scope: string,
  { thread_id, run_id }: Pick<Run, 'thread_id' | 'run_id'>,
): PartBlock[] {
  for (const { message } of store.messages.ofRun(scope, thread_id, run_id, { reverse: true })) {
    if (message.role === 'assistant') return message.content.filter(isPartBlock);
  }
  return [];
}
