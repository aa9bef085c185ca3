import { isObject } from '../data/guard.ts';

/** What the console is told before it starts. */
export type Configuration = {
  backendUrl: string;
  title: string | undefined;
};

const textIn = (source: unknown, key: string): string | undefined => {
  const value = isObject(source) ? source[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The service that serves the console is the one that it is of, unless somebody says otherwise. */
const usualBackend = (): string => {
  const built = import.meta.env.VITE_BACKEND_URL;
  if (typeof built === 'string' && built !== '') return built;
  return import.meta.env.DEV ? 'http://127.0.0.1:38080' : location.origin;
};

export const readConfiguration = async (): Promise<Configuration> => {
  const told: unknown = await fetch('/console-config.json')
    .then((response) => (response.ok ? response.json() : undefined))
    .catch(() => undefined);
  return { backendUrl: textIn(told, 'backendUrl') ?? usualBackend(), title: textIn(told, 'title') };
};
