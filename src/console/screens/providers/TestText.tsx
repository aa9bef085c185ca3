import { redactText } from '../../data/redact-text.ts';
import { Chip } from '../../design/Chip.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './Providers.module.css';
import type { Tested } from './tests.ts';
import { texts } from './texts.ts';

/** What came of a test: it works, it is well written and nobody was asked, or it does not work. */
export const TestText = ({ tested, isLong = false }: { tested: Tested; isLong?: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const latency = format.duration(tested.latency_ms).replace(' ms', 'ms');
  const { ok, network_tested: isAsked, error } = tested;
  const key = ok ? (isAsked ? 'test.ok' : 'test.config') : 'test.failed';
  const why = error === undefined ? undefined : redactText(error);
  return (
    <span className={css.tested}>
      <Chip tone={ok ? (isAsked ? 'success' : 'info') : 'error'} {...(why !== undefined && { title: why })}>
        {t(key, { latency })}
      </Chip>
      {isLong && ok && !isAsked && <span className={css.quiet}>{t('test.configText')}</span>}
      {isLong && why !== undefined && <span className={css.bad}>{why}</span>}
    </span>
  );
};
