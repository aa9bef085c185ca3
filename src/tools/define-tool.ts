import { z } from 'zod';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import { BY_CLIENT } from './client-tool.ts';
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

/** Defines tools in programs: one zod schema describes, validates and types the arguments (agent-loop.md 6). */

type ToolDefinition<Input extends z.ZodType> = {
  /** Id in lists of tools, such as `allowed_tools`. */
  id: string;
  /** Name for the model; default: the id. */
  name?: string;
  /** Text for the model: what the tool does, and when to call it. */
  description: string;
  /** Schema of the arguments object. */
  input: Input;
  category?: string;
  /** Whether a call that a crash interrupted may be executed again; default: false. */
  idempotent?: boolean;
  /** Whether the other calls of the same message wait for it; default: false. */
  exclusive?: boolean;
  /** Why the tool works only within a run, for a tool that cannot be tried alone. */
  needsRun?: string;
  /** Suspends the call until a person approves it; a function decides by the arguments. */
  needsApproval?: boolean | ((args: z.output<Input>) => boolean | Promise<boolean>);
  /** A plain value becomes the `data` of the output. */
  execute(args: z.output<Input>, context: ToolContext): Returned | Promise<Returned>;
};

type Returned = ToolOutput | Suspension | PlainValue;

/**
 * Defines a tool whose arguments are described and validated by one zod schema (agent-loop.md 6). The model receives the
 * error of invalid arguments, and of everything that `execute` throws.
 *
 * @throws Error for a schema that JSON Schema cannot express
 * @example
 * ```ts
 * const double = defineTool({
 *   id: 'double',
 *   description: 'Doubles a number.',
 *   input: z.object({ n: z.number() }),
 *   idempotent: true,
 *   execute: ({ n }) => n * 2,
 * });
 * ```
 */
export const defineTool = <Input extends z.ZodType>({
  id,
  name = id,
  description,
  input,
  category,
  idempotent = false,
  exclusive = false,
  needsRun,
  needsApproval = false,
  execute,
}: ToolDefinition<Input>): Tool => ({
  descriptor: { id, name, description, parameters: parametersOf(input), category: category ?? null },
  idempotent,
  exclusive,
  checksOwnArguments: true,
  ...(needsRun !== undefined && { needsRun }),
  refuses: (args) => parseArguments(input, args).error,
  execute: async (args, context) => {
    const { data, error } = parseArguments(input, args);
    if (error) throw error;
    return outputOf(await execute(data, context));
  },
  ...(needsApproval !== false && { gate: approvalGate(input, needsApproval) }),
});

const PROCEED: GateDecision = { kind: 'proceed' };

/** An approved call proceeds; a rejected one is cancelled. */
const approvalGate =
  <Input extends z.ZodType>(
    input: Input,
    needed: true | NonNullable<Exclude<ToolDefinition<Input>['needsApproval'], boolean>>,
  ): NonNullable<Tool['gate']> =>
  async (call) => {
    if (call.approved) return PROCEED;
    if (needed !== true) {
      const args = input.safeParse(given(call.arguments));
      // `execute` reports invalid arguments to the model.
      if (!args.success || !(await needed(args.data))) return PROCEED;
    }
    return { kind: 'suspend', ticket: permissionTicket(call) };
  };

type ClientToolDefinition = Pick<
  ToolDefinition<z.ZodType>,
  'id' | 'name' | 'description' | 'input' | 'category'
>;

/**
 * Defines a tool that the client executes (agent-loop.md 7.5): each call is suspended, and the response of the client
 * becomes its result.
 *
 * @throws Error for a schema that JSON Schema cannot express
 * @example
 * ```ts
 * const pickColor = defineClientTool({
 *   id: 'pick_color',
 *   description: 'Lets the user pick a color.',
 *   input: z.object({ prompt: z.string() }),
 * });
 * ```
 */
export const defineClientTool = (definition: ClientToolDefinition): Tool => ({
  ...defineTool({
    ...definition,
    needsRun: BY_CLIENT,
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

/** Missing arguments count as an empty object (agent-loop.md 6.1). */
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

/** Messages of refinements are complete; all others are prefixed with the path. */
const describeIssue = (issue: z.core.$ZodIssue): string => {
  const path = z.core.toDotPath(issue.path);
  if (issue.code === 'custom') return issue.message;
  if (path === '') return issue.message;
  return issue.input === undefined ? `Missing '${path}'` : `'${path}': ${issue.message}`;
};
