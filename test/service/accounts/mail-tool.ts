import { z } from 'zod';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { authorizationTicket } from '../../../src/tools/tickets.ts';
import type { Tool } from '../../../src/tools/tool.ts';

/** A tool that waits for an account of its user, as tools of MCP servers with `auth` do. */

const URL = 'https://agents.example/v1/authorizations/a1/start';

export const WAIT = {
  server: 'mail',
  scopes: ['read'],
  authorization: 'a1',
  url: URL,
  expires_at: Date.UTC(2100, 0, 1),
};

export type MailTool = { tool: Tool; executed: string[]; connect(): void };

export const createMailTool = (more: Partial<typeof WAIT> = {}): MailTool => {
  const executed: string[] = [];
  let isConnected = false;
  return {
    executed,
    connect() {
      isConnected = true;
    },
    tool: {
      ...defineTool({
        id: 'send_mail',
        description: 'Sends a mail.',
        input: z.object({ to: z.string() }),
        execute: ({ to }) => ({ data: `sent to ${to}` }),
      }),
      async execute(_args, { call_id }) {
        if (!isConnected) return { suspend: authorizationTicket(call_id, { ...WAIT, ...more }) };
        executed.push(call_id);
        return { data: `sent by ${call_id}` };
      },
    },
  };
};
