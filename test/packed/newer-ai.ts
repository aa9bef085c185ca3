import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputIn } from '../../bench/package.ts';
import { ROOT } from './project.ts';

/** A page that uses `troupe/react` with the latest supported major version of the AI SDK. */

const PEERS = ['ai@7', '@ai-sdk/react@4', 'react@19', 'react-dom@19'];

/** The oldest Node that `ai` 7 supports. */
const OLDEST_NODE = 22;

/** The reason why this host cannot install the packages, if any. */
export const reasonToSkip = (): string | undefined => {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) return `ai 7 requires Node ${OLDEST_NODE}, this is ${process.version}`;
  const { status } = spawnSync('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=10000'], {
    stdio: 'ignore',
  });
  return status === 0 ? undefined : 'the npm registry cannot be reached';
};

/**
 * Installs the packed file alongside the packages. npm resolves their peer ranges.
 *
 * @returns the folder of the project
 * @throws when npm cannot resolve the ranges
 */
export const installBesideNewerAi = async (folder: string, tarball: string): Promise<string> => {
  const project = join(folder, 'newer-ai');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--ignore-scripts', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund'];
  await outputIn(project, 'npm', 'install', '--engine-strict', ...flags, tarball, ...PEERS);
  symlinkSync(join(ROOT, 'node_modules/happy-dom'), join(project, 'node_modules/happy-dom'));
  writeFileSync(join(project, 'troupe.config.mjs'), SERVICE);
  writeFileSync(join(project, 'page.mjs'), PAGE);
  writeFileSync(join(project, 'page.tsx'), TYPED_PAGE);
  return project;
};

/** An agent whose first completion calls a tool that needs approval. */
const SERVICE = `
import { defineProvider, defineTool } from 'troupe';
import { z } from 'zod';

export default {
  tools: [
    defineTool({
      id: 'weather',
      description: 'Returns the weather of a city.',
      input: z.object({ city: z.string() }),
      needsApproval: true,
      execute: ({ city }) => 'rain in ' + city,
    }),
  ],
  providers: [
    defineProvider({
      id: 'scripted',
      async stream({ messages }, sink) {
        if (JSON.stringify(messages).includes('rain in Rome')) {
          sink.text('Take ');
          sink.text('an umbrella.');
          return { stop: 'EndTurn' };
        }
        sink.text('Let me look.');
        sink.toolStart('call-1', 'weather');
        sink.toolEnd('call-1', '{"city":"Rome"}');
        return { stop: 'ToolUse' };
      },
    }),
  ],
  models: [{ id: 'scripted', provider_id: 'scripted', upstream_model: 'scripted' }],
  agents: [{ id: 'forecaster', model_id: 'scripted', allowed_tools: ['weather'] }],
};
`;

/** Sends a message, approves the call, and prints the states that the page was rendered with. */
const PAGE = `
import { Window } from 'happy-dom';
const window = new Window({ url: 'http://page.test/' });
for (const name of ['window', 'document', 'navigator'])
  Object.defineProperty(globalThis, name, { value: name === 'window' ? window : window[name], configurable: true });
const { createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
const { useTroupeChat } = await import('troupe/react');

const states = new Set();
const said = new Set();
let step = 0;
const Page = () => {
  const chat = useTroupeChat({ url: process.argv[2], threadId: 'page', agentId: 'forecaster', throttle: 0 });
  const parts = chat.messages.filter(({ role }) => role === 'assistant').flatMap(({ parts }) => parts);
  const call = parts.find(({ type }) => type.startsWith('tool-') || type === 'dynamic-tool');
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  states.add(chat.status);
  if (text) said.add(text);
  if (chat.error) throw chat.error;
  setTimeout(() => {
    if (step === 0 && chat.isLoaded) {
      step = 1;
      chat.sendMessage({ text: 'What is the weather?' });
    } else if (step === 1 && !chat.isBusy && call?.state === 'approval-requested') {
      step = 2;
      chat.approve({ id: call.approval.id });
    } else if (step === 2 && !chat.isBusy && text.endsWith('umbrella.')) {
      step = 3;
      console.log(JSON.stringify({ states: [...states], said: [...said], call: call.state, output: call.output }));
      process.exit(0);
    }
  });
  return null;
};
createRoot(window.document.createElement('div'), {
  onUncaughtError(error) {
    console.error(error);
    process.exit(1);
  },
}).render(createElement(Page));
`;

/** Passes results of `useTroupeChat` to functions of `ai`, which fails if the types come from two versions. */
const TYPED_PAGE = `
import { isToolUIPart, type UIMessage } from 'ai';
import { type TroupeChat, useTroupeChat } from 'troupe/react';

export const approveAll = ({ messages, approve }: TroupeChat): void => {
  const shown: UIMessage[] = messages;
  for (const part of shown.flatMap(({ parts }) => parts)) {
    if (isToolUIPart(part) && part.state === 'approval-requested') approve({ id: part.approval.id });
  }
};

export const Page = () => {
  const chat: TroupeChat = useTroupeChat({ threadId: 'page' });
  return <button onClick={() => void chat.sendMessage({ text: 'Hello' })}>{chat.status}</button>;
};
`;
