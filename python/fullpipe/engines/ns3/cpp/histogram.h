// Percentiles of durations. Buckets are less than 1.6 % wide; count, sum and extremes are exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace fullpipe
{

class Histogram
{
  public:
    void Record(int64_t nanos)
    {
        m_counts[Bucket(nanos)]++;
        m_count++;
        m_sum += static_cast<double>(nanos);
        m_min = std::min(m_min, nanos);
        m_max = std::max(m_max, nanos);
    }

    uint64_t Count() const
    {
        return m_count;
    }

    double MinSeconds() const
    {
        return m_count ? static_cast<double>(m_min) / 1e9 : NONE;
    }

    double MeanSeconds() const
    {
        return m_count ? m_sum / static_cast<double>(m_count) / 1e9 : NONE;
    }

    // The quantile q (0 to 1) of all values.
    double QuantileSeconds(double q) const
    {
        const auto rank = std::max<uint64_t>(1, std::ceil(q * static_cast<double>(m_count)));
        uint64_t seen = 0;
        for (const auto& [bucket, count] : m_counts)
        {
            seen += count;
            if (seen >= rank)
            {
                const double middle = bucket < 0 ? 0.0 : std::exp2((bucket + 0.5) / PER_OCTAVE);
                return std::clamp(middle, static_cast<double>(m_min), static_cast<double>(m_max)) / 1e9;
            }
        }
        return NONE;
    }

    static constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

  private:
    static constexpr double PER_OCTAVE = 64;

    static int Bucket(int64_t nanos)
    {
        return nanos <= 0 ? -1 : static_cast<int>(std::log2(static_cast<double>(nanos)) * PER_OCTAVE);
    }

    std::map<int, uint64_t> m_counts;
    uint64_t m_count = 0;
    double m_sum = 0;
    int64_t m_min = std::numeric_limits<int64_t>::max();
    int64_t m_max = 0;
};

} // namespace fullpipe
