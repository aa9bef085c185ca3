/** What a fixture of the conformance suite is: data and functions, whatever serves them. */

type Answer = { [key: string]: unknown };

/** What a tool does to its caller while it runs, and what that said with the call. */
export type Fixture = {
  log(level: string, data: unknown): void;
  /** Nothing, if the caller gave no token. */
  progress(done: number, total: number): void;
  /** Asks the caller, on the stream of the call. */
  request(method: string, params: object): Promise<Answer>;
  /** Of a revision without requests to the caller: what it answered to those of the result before this call. */
  answers: Record<string, Answer>;
  /** What that result wanted back. */
  state: string | undefined;
  /** Those that the caller declared. */
  capabilities: Record<string, unknown>;
};

export type FixtureTool = {
  inputSchema: { type: 'object'; [keyword: string]: unknown };
  call(args: Record<string, unknown>, fixture: Fixture): Promise<Answer>;
};
