import { type ActingAccount, accountOf } from '../schema/account.ts';
import type { McpServerSpec } from '../schema/mcp-server.ts';
import { type Json, type Suspension, type ToolContext, ToolError, type ToolOutput } from '../tools/tool.ts';
import type { AccountConnections } from './account-connections.ts';
import { createAuthorize, Unauthorized } from './authorized.ts';
import type { Connection } from './connection.ts';
import { McpFailure } from './failure.ts';
import type { AwaitAuthorization, TokenSource } from './token-source.ts';

/**
 * Calls a tool with the connection of the account that the run acts for (identity.md 6.2). Without a usable token the
 * call is suspended until the account is connected.
 */
export type AccountCall = {
  spec: McpServerSpec;
  /** Id of the tool. */
  tool: string;
  args: Json;
  context: ToolContext;
};

type Deps = { tokens: TokenSource; wait: AwaitAuthorization; accounts: AccountConnections };

/** @throws ToolError */
export const callForAccount = async (
  { tokens, wait, accounts }: Deps,
  { spec, ...call }: AccountCall,
  work: (connection: Connection) => Promise<ToolOutput>,
): Promise<ToolOutput | Suspension> => {
  const account: ActingAccount = accountOf(call.context.scope, call.context.acts_for);
  try {
    // Judges the rights of the run, and finds a missing connection without contacting the server.
    await createAuthorize(tokens, account, spec)();
    return await work(await accounts.open(account));
  } catch (error) {
    if (error instanceof Unauthorized) return wait(error.needed, { ...call, account });
    if (!(error instanceof McpFailure)) throw error;
    throw new ToolError('execution_failed', error.message, { cause: error });
  }
};
