import { QueryCache, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { connection, heardFrom } from './connection.ts';
import { errorState, RequestError, statusOf } from './error.ts';
import type { Guard } from './guard.ts';
import { type Outgoing, send } from './request.ts';
import { token } from './session.ts';

/**
 * What screens read. A `Resource` says which route, how its answer looks, and which of its refusals mean that this part
 * of the service is off; `useResource` keeps it, shared by all who ask for the same.
 */
export type Resource<T> = Pick<Outgoing, 'path' | 'query'> & {
  guard: Guard<T>;
  /** Statuses that say that the part is not there, and the setting that brings it. */
  off?: { statuses: readonly number[]; setting?: string };
  /** Milliseconds between looks while the page is visible. */
  every?: number | undefined;
  /** Reads it in another way than one GET. */
  read?: (signal: AbortSignal) => Promise<T>;
};

/** What was read is fresh for so long. */
const FRESH_MS = 30_000;

const isWorthAnother = (error: unknown): boolean => {
  if (!(error instanceof RequestError)) return false;
  if (error.failure.kind === 'network') return true;
  const status = statusOf(error);
  return status !== undefined && status >= 500 && status !== 503;
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: heardFrom }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (count, error) => count < 1 && isWorthAnother(error),
      retryDelay: 500,
      refetchOnWindowFocus: false,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** The path is the key, so that a write knows what it touches by the paths below it. */
export const keyOf = ({ path, query }: Pick<Outgoing, 'path' | 'query'>): readonly unknown[] => [
  path,
  query ?? {},
];

const optionsOf = <T>(resource: Resource<T>) => ({
  queryKey: keyOf(resource),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<T> =>
    resource.read?.(signal) ?? send({ path: resource.path, query: resource.query, signal }, resource.guard),
  ...(resource.every !== undefined && {
    // Whoever was refused would only be refused again.
    refetchInterval: ({ state }: { state: { error: unknown } }) =>
      statusOf(state.error) === 401 ? false : (resource.every ?? false),
    staleTime: resource.every / 2,
  }),
});

export type Loaded<T> = UseQueryResult<T, Error>;

export const useResource = <T>(resource: Resource<T>, enabled = true): Loaded<T> =>
  useQuery<T, Error>({ ...optionsOf(resource), enabled });

/** For the palette and others that read outside of a component. */
export const readResource = <T>(resource: Resource<T>): Promise<T> =>
  queryClient.fetchQuery<T, Error>(optionsOf(resource));

/** How the screen shows that it could not be read. */
export const stateOf = <T>(resource: Resource<T>, error: unknown) =>
  errorState(error, resource.off?.statuses);

/** Everything that was read below these paths is read again. */
export const invalidate = (...paths: readonly string[]): void => {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      typeof path === 'string' && paths.some((prefix) => path === prefix || path.startsWith(`${prefix}/`)),
  });
};

/** What a token has shown is gone with it; a new one shows everything again. */
export const watchToken = (): void => {
  token.subscribe((value) => {
    if (value === '') {
      void queryClient.cancelQueries();
      void queryClient.resetQueries();
    } else void queryClient.invalidateQueries(undefined, { cancelRefetch: false });
  });
  let before = connection.get();
  connection.subscribe((now) => {
    if (before === 'disconnected' && now !== 'disconnected') void queryClient.invalidateQueries();
    before = now;
  });
};
