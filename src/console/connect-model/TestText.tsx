import { redactText } from '../data/redact-text.ts';
import { Chip } from '../design/Chip.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { outcomeOf, type TestResult } from './provider-test.ts';
import texts from './texts.json' with { type: 'json' };

/** The result of a provider test: in a few words, or with its explanation. */
export const TestText = (props: { tested: TestResult; isLong?: boolean; hasKey?: boolean }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { tested, isLong = false, hasKey } = props;
  const { ok, network_tested: isAsked } = tested;
  const { key, values } = outcomeOf(tested, hasKey);
  const why = tested.error === undefined ? undefined : redactText(tested.error);
  return (
    <span className="row">
      <Chip tone={ok ? (isAsked ? 'success' : 'info') : 'error'} {...(why !== undefined && { title: why })}>
        {t(key, values)}
      </Chip>
      {(ok || isLong) && <span className="quiet">{format.duration(tested.latency_ms)}</span>}
      {isLong && ok && !isAsked && <span className="quiet">{t('test.configText')}</span>}
      {isLong && why !== undefined && <span className="quiet">{why}</span>}
    </span>
  );
};
