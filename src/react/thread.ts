import type { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import type { Connection } from '../client/connection.ts';
import type { Token, TokenSource } from '../client/token.ts';

/**
 * One thread of the service as a chat of the AI SDK, with its stock transport. Stored messages come from the history,
 * and an active run from its stream, which starts at the beginning of the response. Leaving the page cancels nothing.
 *
 * Guarantees: while a response streams, only its stream writes messages; stored messages are shown in between.
 * Concurrent requests to synchronize share one operation, so nothing is fetched, shown or executed twice.
 */

/**
 * A tool that the page executes: returns the result of the call or throws its error, and the run continues with it.
 *
 * @example
 * ```ts
 * const readTitle: PageTool = (_input, { toolCallId }) => ({ title: document.title, toolCallId });
 * ```
 */
export type PageTool = (input: unknown, call: { toolCallId: string }) => unknown;

/**
 * Tools that the page executes, by the names of client tools of the agent.
 *
 * @example
 * ```ts
 * const tools: PageTools = { readTitle: () => document.title };
 * ```
 */
export type PageTools = Readonly<Record<string, PageTool>>;

export type ThreadChatOptions = {
  /** Address of the service, such as `http://127.0.0.1:38080`; default: the address of the page. */
  url?: string;
  threadId: string;
  /** Agent that responds; default: the agent of the thread, or `default`. */
  agentId?: string;
  /**
   * The bearer token of all requests, or a function that returns it. The function may be asynchronous; it is called
   * again after a 401, and the rejected request is repeated with the new token. An error of the function is that of the
   * request.
   */
  token?: TokenSource;
  /** Further headers of each request; a function is called for every request. `token` replaces `authorization`. */
  headers?: Record<string, string> | (() => Record<string, string>);
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch;
  /** Tools that the page executes, by name. */
  tools?: PageTools;
};

/** Executes a named action unless another tab is executing it. */
export type TabLock = (name: string, act: () => Promise<void>) => void;

/** Functions in the input may change at any time. */
export type ThreadChatInput = Omit<ThreadChatOptions, 'token' | 'headers' | 'fetch' | 'tools'> & {
  /** @throws TypeError for an invalid text */
  token?: () => Token | undefined;
  headers: () => Record<string, string>;
  fetch: typeof fetch;
  tools: () => PageTools;
  alone: TabLock;
};

/** The open stream of a run. */
export type Live = { response: Response; release(): void };

export type ThreadChat = {
  readonly chat: Chat<UIMessage>;
  readonly connection: Connection;
  readonly tools: () => PageTools;
  readonly alone: TabLock;
  /** Number of pages that show the chat. */
  shown: number;
  /** A message in transit: its run is unknown until the response arrives. */
  asking: Promise<unknown> | undefined;
  /** Ids of messages that the service has not received yet. */
  readonly unsent: Set<string>;
  /** Whether the first of these replaces a stored message. */
  isEdited: boolean;
  /** Closing of the previous stream, before which no other one is opened. */
  leaving: Promise<void> | undefined;
  catching: Promise<void> | undefined;
  /** The stream that the chat reads when it resumes. */
  live: Live | undefined;
  /** Whether the shown messages may be incomplete: they were never read, or a stream has ended since. */
  isStale: boolean;
  /** Whether the run waits for its client. */
  isWaiting: boolean;
  /** Whether this page has decided calls that are pending on the service. */
  hasGiven: boolean;
  /**
   * A message whose decisions arrived too late: the run no longer waits for them, so they must not be sent repeatedly.
   */
  unheard: UIMessage | undefined;
  /** The thread record before the shown messages were read; undefined before the first read. */
  seen: string | undefined;
  /** Calls whose execution the page has started. */
  readonly started: Set<string>;
  /** Calls whose results the service does not have yet, with functions that release them. */
  readonly held: Map<string, () => void>;
};
