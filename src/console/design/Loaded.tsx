import type { ReactNode } from 'react';
import { probe } from '../data/connection.ts';
import { errorState, isConfigOff, messageOf, RequestError, statusOf } from '../data/error.ts';
import { type Loaded as Query, type Resource, useResource } from '../data/queries.ts';
import { redactText } from '../data/redact-text.ts';
import { askForToken } from '../data/session.ts';
import { useTexts } from '../i18n/locale.ts';
import { Button } from './Button.tsx';
import { CopyButton } from './Copy.tsx';
import { Notice, RequestLine, SkeletonRows } from './Notice.tsx';
import designTexts from './texts.json' with { type: 'json' };

/** Presentation of each state of a query (console.md 3.9). */

const textOf = (error: unknown): string =>
  redactText(error instanceof Error ? error.message : messageOf(error, 0));

const requestOf = (error: unknown): string | undefined =>
  error instanceof RequestError ? error.request : undefined;

const Unauthorised = ({ plain, onRetry }: { plain?: boolean | undefined; onRetry: () => void }) => {
  const t = useTexts(designTexts);
  const ask = async (): Promise<void> => {
    if (await askForToken('asked')) onRetry();
  };
  return (
    <Notice
      plain={plain}
      icon="lock"
      title={t('unauthorised.title')}
      actions={
        <Button small onClick={() => void ask()}>
          {t('unauthorised.set')}
        </Button>
      }
    >
      {t('unauthorised.text')}
    </Notice>
  );
};

const Failed = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => {
  const t = useTexts(designTexts);
  const status = statusOf(error);
  const isNetwork = errorState(error) === 'network';
  const failure = error instanceof RequestError ? error.failure : undefined;
  const backend = failure?.kind === 'network' ? failure.backend : '';
  const text = textOf(error);
  const retry = (): void => {
    if (isNetwork) void probe();
    onRetry();
  };
  return (
    <Notice
      tone="error"
      title={isNetwork ? t('error.network', { backend }) : t('error.title')}
      actions={
        <>
          <Button small onClick={retry}>
            {t('retry')}
          </Button>
          <CopyButton
            text={`${requestOf(error) ?? ''} ${status ?? ''} ${text}`.trim()}
            label={t('copyDetails')}
          />
        </>
      }
    >
      {isNetwork ? t('error.networkHelp', { origin: location.origin }) : text}
      {requestOf(error) && (
        <RequestLine>
          {requestOf(error)}
          {status !== undefined && ` · ${t('error.status', { status })}`}
        </RequestLine>
      )}
    </Notice>
  );
};

type ErrorBoxProps = {
  error: unknown;
  off?: Resource<unknown>['off'] | undefined;
  plain?: boolean | undefined;
  onRetry: () => void;
};

/** A failed query: disabled feature, missing credential or grant, unreachable service, or another failure. */
export const ErrorBox = ({ error, off, plain, onRetry }: ErrorBoxProps) => {
  const t = useTexts(designTexts);
  const state = errorState(error, off?.statuses);
  if (state === 'unauthorised') return <Unauthorised plain={plain} onRetry={onRetry} />;
  if (state === 'forbidden') {
    return (
      <Notice plain={plain} icon="lock" title={t('forbidden.title')}>
        {textOf(error)}
      </Notice>
    );
  }
  if (state !== 'off') return <Failed error={error} onRetry={onRetry} />;
  return (
    <Notice plain={plain} title={t('off.title')}>
      {isConfigOff(error)
        ? t('off.config')
        : off?.setting
          ? t('off.setting', { setting: off.setting })
          : textOf(error)}
    </Notice>
  );
};

/**
 * The data of a query. A skeleton is shown during the first read, and an error if it fails. If only a later read fails,
 * the previous data stays.
 */
export const Loaded = <T,>(props: {
  query: Query<T>;
  off?: Resource<unknown>['off'] | undefined;
  plain?: boolean;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}) => {
  const { query } = props;
  if (query.data !== undefined) return props.children(query.data);
  if (query.error) {
    return (
      <ErrorBox
        error={query.error}
        off={props.off}
        plain={props.plain}
        onRetry={() => void query.refetch()}
      />
    );
  }
  return props.skeleton ?? <SkeletonRows />;
};

/**
 * `Loaded` for a single entry. A 404 means that the id is unknown if the list of the feature can be read, and that the
 * feature is disabled otherwise (console.md 3.9).
 */
export const LoadedById = <T,>(props: {
  query: Query<T>;
  list: Resource<unknown>;
  unknown: ReactNode;
  children: (data: T) => ReactNode;
}) => {
  const { query, list } = props;
  const isMissing = query.data === undefined && statusOf(query.error) === 404;
  const others = useResource(list, isMissing);
  if (isMissing && others.isPending) return <SkeletonRows />;
  if (isMissing && others.data !== undefined) return props.unknown;
  return (
    <Loaded query={query} off={list.off}>
      {props.children}
    </Loaded>
  );
};
