/** Fixtures of the conformance suite as data and functions, independent of the server. */

type Answer = { [key: string]: unknown };

/** The functions that a tool may use during its call, and the data of the call. */
export type Fixture = {
  log(level: string, data: unknown): void;
  /** Sends nothing if the caller provided no token. */
  progress(done: number, total: number): void;
  /** Sends a request to the caller on the stream of the call. */
  request(method: string, params: object): Promise<Answer>;
  /** For a revision without requests to the caller: the responses to the requests in the previous result. */
  answers: Record<string, Answer>;
  /** The state that the previous result asked to return. */
  state: string | undefined;
  /** The capabilities that the caller declared. */
  capabilities: Record<string, unknown>;
};

export type FixtureTool = {
  inputSchema: { type: 'object'; [keyword: string]: unknown };
  call(args: Record<string, unknown>, fixture: Fixture): Promise<Answer>;
};
