import { z } from 'zod';
import { findExcess, MOST_PARTS } from '../schema/answer-part.ts';
import { inputProblem, locateInputProblem } from '../schema/input-content.ts';
import { InputBlock } from '../schema/message.ts';
import { Invalid } from '../schema/outcome.ts';
import { describeIssues, phrases } from '../schema/phrases.ts';

/** Content that a tool returns for the model: the blocks of user messages, within the limits of a completion. */

const Content = z.array(InputBlock).min(1).max(MOST_PARTS);

/** @throws Invalid with the path of the problem: `content[0].source.data: must not be empty` */
export const checkedContent = (given: unknown): InputBlock[] => {
  const read = Content.safeParse(given, phrases);
  if (!read.success) throw new Invalid(describeIssues(read.error, ['content']));
  const problem = inputProblem(read.data);
  if (problem) throw new Invalid(locateInputProblem(problem));
  const files = read.data.filter((block) => block.type !== 'text');
  const excess = findExcess([], files);
  if (excess !== undefined) throw new Invalid(`content: ${excess}`);
  return read.data;
};
