import { redactText } from '../data/redact-text.ts';
import { Button } from '../design/Button.tsx';
import shared from '../entry/Entry.module.css';
import { type Say, useTexts } from '../i18n/locale.ts';
import css from './ConnectModel.module.css';
import { texts } from './texts.ts';
import type { Preview, Result } from './use-preview.ts';

type Text = { tone: 'ok' | 'quiet' | 'bad'; text: string };
type T = Say<keyof typeof texts.en>;

const UNAUTHORIZED: readonly number[] = [401, 403];
/** Some services return 400 for a wrong key. */
const REJECTED: readonly number[] = [400, ...UNAUTHORIZED];

const failureText = (t: T, { status, error = '' }: Result, hasKey: boolean): string => {
  if (status === undefined) return t('bad.other', { reason: redactText(error) });
  if (hasKey && REJECTED.includes(status)) return t('bad.key', { status });
  if (UNAUTHORIZED.includes(status)) return t('bad.noKey', { status });
  return t('bad.server', { status });
};

const successText = (t: T, { network_tested, models_from, models }: Result): string => {
  if (!network_tested) return t('ok.untested');
  return models_from === 'provider' ? t('ok.models', { count: models.length }) : t('ok.noList');
};

const textFor = (t: T, preview: Preview, hasKey: boolean): Text | undefined => {
  switch (preview.kind) {
    case 'incomplete':
      return undefined;
    case 'testing':
      return { tone: 'quiet', text: t('testing') };
    case 'failed':
      return { tone: 'bad', text: t('bad.other', { reason: redactText(preview.reason) }) };
    case 'tested': {
      const { result } = preview;
      if (!result.ok) return { tone: 'bad', text: failureText(t, result, hasKey) };
      return { tone: result.network_tested ? 'ok' : 'quiet', text: successText(t, result) };
    }
  }
};

/** The result of the test in words. */
export const TestStatus = (props: { preview: Preview; hasKey: boolean; onAgain: () => void }) => {
  const t = useTexts(texts);
  const shown = textFor(t, props.preview, props.hasKey);
  return (
    <div className={shared.row}>
      <p role="status" className={css.status} data-tone={shown?.tone}>
        {shown?.text}
      </p>
      {shown?.tone === 'bad' && (
        <Button small onClick={props.onAgain}>
          {t('again')}
        </Button>
      )}
    </div>
  );
};
