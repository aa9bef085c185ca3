import { ConnectionLost, TroupeError } from '../../client/errors.ts';
import { RequestError } from '../data/error.ts';
import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import { ErrorBox } from '../design/Loaded.tsx';
import { Notice } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import texts from './texts.json' with { type: 'json' };

/** Why a response failed, and what to do about it. */

const MODEL = 'inference failed: ';

/** The message of the model or its provider, without the part that the service adds. */
export const withoutPrefix = (message: string): string =>
  message.startsWith(MODEL) ? message.slice(MODEL.length) : message;

type Kind = 'unreachable' | 'request' | 'model' | 'run';

export const kindOf = (error: Error): Kind => {
  if (error instanceof RequestError) return error.failure.kind === 'network' ? 'unreachable' : 'request';
  if (error instanceof ConnectionLost || error instanceof TypeError) return 'unreachable';
  if (error instanceof TroupeError) return 'request';
  return error.message.startsWith(MODEL) ? 'model' : 'run';
};

export const Failure = (props: {
  error: Error;
  /** The provider of the agent's model, if there is only one. */
  provider: string | undefined;
  onRetry: () => void;
}) => {
  const t = useTexts(texts);
  const { error, provider, onRetry } = props;
  const kind = kindOf(error);
  if (kind === 'request') return <ErrorBox error={error} onRetry={onRetry} />;
  return (
    <Notice
      tone="error"
      title={t(`failure.${kind}`)}
      actions={
        <>
          <Button small icon="refresh" onClick={onRetry}>
            {t('failure.retry')}
          </Button>
          {kind === 'model' && provider !== undefined && (
            <ScreenLink to={`/providers?edit=${encodeURIComponent(provider)}`}>
              {t('failure.provider', { provider })}
            </ScreenLink>
          )}
        </>
      }
    >
      {kind === 'unreachable' ? t('failure.kept') : redactText(withoutPrefix(error.message))}
    </Notice>
  );
};
