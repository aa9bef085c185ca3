import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { connection, heardFrom } from './connection.ts';
import { errorState, RequestError, statusOf } from './error.ts';
import type { Guard } from './guard.ts';
import { checked, type Outgoing, sendUnchecked } from './request.ts';
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
  /** While it is not visible, too. */
  unseen?: boolean;
  /** While another query of the same screen is read, what the one before gave stays. */
  keeps?: boolean;
  /** Reads it in another way than one GET; the guard looks at what that gives. */
  read?: (signal: AbortSignal) => Promise<unknown>;
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
const keyOf = ({ path, query }: Pick<Outgoing, 'path' | 'query'>): readonly unknown[] => [path, query ?? {}];

/**
 * What is kept is the answer as it came, and each reader looks at it through its own guard: two that ask for the same
 * route may want different things of it.
 */
export const optionsOf = <T>(resource: Resource<T>) => ({
  queryKey: keyOf(resource),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<unknown> =>
    resource.read?.(signal) ?? sendUnchecked({ path: resource.path, query: resource.query, signal }),
  select: (body: unknown): T => checked(resource, resource.guard, body),
  ...(resource.keeps && { placeholderData: keepPreviousData }),
  ...(resource.every !== undefined && {
    // Whoever was refused would only be refused again.
    refetchInterval: ({ state }: { state: { error: unknown } }) =>
      statusOf(state.error) === 401 ? false : (resource.every ?? false),
    refetchIntervalInBackground: resource.unseen ?? false,
    staleTime: resource.every / 2,
  }),
});

export type Loaded<T> = UseQueryResult<T, Error>;

export const useResource = <T>(resource: Resource<T>, enabled = true): Loaded<T> =>
  useQuery<unknown, Error, T>({ ...optionsOf(resource), enabled });

/** The same, looked at again every so many milliseconds for as long as what it tells of goes on. */
export const useWhile = <T>(
  resource: Resource<T>,
  goesOn: (read: T) => boolean,
  every: number,
): Loaded<T> => {
  const options = optionsOf(resource);
  const isGoingOn = ({ state: { data } }: { state: { data: unknown } }): boolean =>
    data !== undefined && goesOn(options.select(data));
  return useQuery<unknown, Error, T>({
    ...options,
    refetchInterval: (query) => (isGoingOn(query) && statusOf(query.state.error) !== 401 ? every : false),
    staleTime: (query) => (isGoingOn(query) ? every / 2 : FRESH_MS),
  });
};

/** For the palette and others that read outside of a component. */
export const readResource = async <T>(resource: Resource<T>): Promise<T> => {
  const { queryKey, queryFn, select } = optionsOf(resource);
  return select(await queryClient.fetchQuery({ queryKey, queryFn }));
};

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
