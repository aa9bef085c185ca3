import { z } from 'zod';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { outputOf, type PlainValue } from './returned.ts';
import { clientTicket, permissionTicket } from './tickets.ts';
import {
  type GateDecision,
  type Json,
  type Suspension,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
} from './tool.ts';

/** How programs make tools: arguments are described, checked and typed by one zod schema (agent-loop.md 6). */

type ToolDefinition<Input extends z.ZodType> = {
  id: string;
  name?: string;
  description: string;
  /** Schema of the arguments object. */
  input: Input;
  category?: string;
  idempotent?: boolean;
  exclusive?: boolean;
  /** The call waits until a person approves it; a function decides by the arguments. */
  needsApproval?: boolean | ((args: z.output<Input>) => boolean | Promise<boolean>);
  /** A value by itself is the `data` of its output. */
  execute(args: z.output<Input>, context: ToolContext): Returned | Promise<Returned>;
};

type Returned = ToolOutput | Suspension | PlainValue;

/**
 * A tool whose arguments are described and checked by one zod schema.
 *
 * @example
 * defineTool({
 *   id: 'double',
 *   description: 'Doubles a number.',
 *   input: z.object({ n: z.number() }),
 *   execute: ({ n }) => n * 2,
 * });
 */
export const defineTool = <Input extends z.ZodType>({
  id,
  name = id,
  description,
  input,
  category,
  idempotent = false,
  exclusive = false,
  needsApproval = false,
  execute,
}: ToolDefinition<Input>): Tool => ({
  descriptor: { id, name, description, parameters: parametersOf(input), category: category ?? null },
  idempotent,
  exclusive,
  checksOwnArguments: true,
  refuses: (args) => parseArguments(input, args).error,
  execute: async (args, context) => {
    const { data, error } = parseArguments(input, args);
    if (error) throw error;
    return outputOf(await execute(data, context));
  },
  ...(needsApproval !== false && { gate: approvalGate(input, needsApproval) }),
});

const PROCEED: GateDecision = { kind: 'proceed' };

/** An approval lets the call pass; a refusal cancels it. */
const approvalGate =
  <Input extends z.ZodType>(
    input: Input,
    needed: true | NonNullable<Exclude<ToolDefinition<Input>['needsApproval'], boolean>>,
  ): NonNullable<Tool['gate']> =>
  async (call) => {
    if (call.approved) return PROCEED;
    if (needed !== true) {
      const args = input.safeParse(given(call.arguments));
      // The tool itself tells the model what is wrong with its arguments.
      if (!args.success || !(await needed(args.data))) return PROCEED;
    }
    return { kind: 'suspend', ticket: permissionTicket(call) };
  };

type ClientToolDefinition = Pick<
  ToolDefinition<z.ZodType>,
  'id' | 'name' | 'description' | 'input' | 'category'
>;

/**
 * A tool that the client executes: each call waits, and what the client answers becomes its result.
 *
 * @example
 * defineClientTool({
 *   id: 'pick_color',
 *   description: 'Lets the user pick a color.',
 *   input: z.object({ prompt: z.string() }),
 * });
 */
export const defineClientTool = (definition: ClientToolDefinition): Tool => ({
  ...defineTool({
    ...definition,
    execute: () => {
      throw new ToolError('internal', `'${definition.id}' is executed by the client`);
    },
  }),
  gate: (call) => ({ kind: 'suspend', ticket: clientTicket(call) }),
});

const parametersOf = (input: z.ZodType): ToolDescriptor['parameters'] => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  // A JSON Schema is JSON; zod types it more narrowly than a record of JSON values.
  return schema as ToolDescriptor['parameters'];
};

/** A model that gives no arguments means none (agent-loop.md 6.1). */
const given = (args: Json): Json => (args === null || args === '' ? {} : args);

const parseArguments = <Input extends z.ZodType>(
  input: Input,
  args: Json,
): { data: z.output<Input>; error?: never } | { data?: never; error: ToolError } => {
  const parsed = input.safeParse(given(args), { reportInput: true });
  if (parsed.success) return { data: parsed.data };
  const problems = parsed.error.issues.map(describeIssue);
  return { error: new ToolError('invalid_arguments', problems.join('; ')) };
};

/** A refinement speaks for itself; every other issue is put behind the path it is about. */
const describeIssue = (issue: z.core.$ZodIssue): string => {
  const path = z.core.toDotPath(issue.path);
  if (issue.code === 'custom') return issue.message;
  if (path === '') return issue.message;
  return issue.input === undefined ? `Missing '${path}'` : `'${path}': ${issue.message}`;
};
