#include "base/contract.h"
#include "cover/certify.h"

static const struct {
    const char *name, *meaning;
} ROWS[COVER_CERTIFICATES] = {
#define FT_ROW(symbol, name, meaning) {name, meaning},
    COVER_CERTIFICATE_TABLE(FT_ROW)
#undef FT_ROW
};

const char *cover_certificate_name(cover_certificate_kind kind)
{
    FT_REQUIRE(kind < COVER_CERTIFICATES);
    return ROWS[kind].name;
}

const char *cover_certificate_meaning(cover_certificate_kind kind)
{
    FT_REQUIRE(kind < COVER_CERTIFICATES);
    return ROWS[kind].meaning;
}

const char *cover_answer_name(cover_answer answer)
{
    static const char *const NAMES[] = {"proved", "refuted", "unknown"};
    FT_REQUIRE(answer <= COVER_UNKNOWN);
    return NAMES[answer];
}

const char *cover_evidence_name(cover_evidence evidence)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, meaning) name,
        COVER_EVIDENCE_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(evidence < COVER_EVIDENCES);
    return NAMES[evidence];
}

cover_evidence cover_certificate_evidence(const cover_certificate *c)
{
    if (c->answer == COVER_PROVED) return COVER_EVIDENCE_PROVED;
    if (c->answer == COVER_REFUTED)
        return c->shown ? COVER_EVIDENCE_REPLAYED : COVER_EVIDENCE_MODEL;
    return c->unconfirmed ? COVER_EVIDENCE_UNCONFIRMED : COVER_EVIDENCE_NONE;
}

const char *cover_certificate_word(cover_certificate_kind kind, cover_answer answer)
{
    bool diverges = kind == COVER_CHECK_DIVERGENCE && answer == COVER_REFUTED;
    return diverges ? "diverges" : cover_answer_name(answer);
}

cover_answer cover_certificates_answer(const cover_certificates *certificates,
                                       cover_certificate_kind kind)
{
    cover_answer answer = COVER_PROVED;
    for (size_t i = 0; i < certificates->all.len; i++) {
        const cover_certificate *c = &certificates->all.data[i];
        if (c->kind != kind || c->answer == COVER_PROVED) continue;
        if (answer != COVER_REFUTED) answer = c->answer;
    }
    return answer;
}

bool cover_certificates_hold(const cover_certificates *certificates)
{
    for (int k = 0; k < COVER_CHECK_FAILURE; k++)
        if (cover_certificates_answer(certificates, (cover_certificate_kind)k) != COVER_PROVED)
            return false;
    return true;
}
