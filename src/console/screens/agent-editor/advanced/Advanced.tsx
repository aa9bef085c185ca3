import { isObject } from '../../../data/guard.ts';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { Resettable } from '../Overridden.tsx';
import { Compaction } from './Compaction.tsx';
import { ContextPolicy } from './ContextPolicy.tsx';
import type { AdvancedProps } from './props.ts';
import { RawJson } from './RawJson.tsx';
import { texts } from './texts.ts';

/** How much of a conversation a model gets, and everything at once as JSON. */

export const Advanced = (props: AdvancedProps) => {
  const t = useTexts(texts);
  const { draft } = props;
  return (
    <>
      <Resettable field="context_policy">
        <ContextPolicy {...props} />
      </Resettable>
      <Compaction {...props} />
      {isObject(draft.endpoint) && (
        <Card title={t('endpoint')}>
          <Json value={{ endpoint: draft.endpoint }} label={t('endpoint')} />
        </Card>
      )}
      <RawJson {...props} />
    </>
  );
};
