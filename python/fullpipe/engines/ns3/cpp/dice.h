// Random numbers as in the native engine, one stream per name, so that start times and losses are drawn identically.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace fullpipe
{

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), seeded by a hash of the stream's name.
class Dice
{
  public:
    Dice(uint64_t seed, const std::string& stream)
    {
        uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a hash
        for (unsigned char byte : stream)
        {
            hash = (hash ^ byte) * 0x100000001b3ull;
        }
        m_state = hash ^ (seed * STEP);
        Next();
    }

    uint64_t Next()
    {
        m_state += STEP;
        uint64_t z = (m_state ^ (m_state >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }

    // A uniform number in [0, 1).
    double Unit()
    {
        return static_cast<double>(Next() >> 11) * (1.0 / 9007199254740992.0);
    }

    bool Chance(double probability)
    {
        return Unit() < probability;
    }

    // The absolute value of a standard normal variable (Box and Muller).
    double Normal()
    {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - Unit()));
        return std::abs(radius * std::cos(2.0 * M_PI * Unit()));
    }

    // A Poisson number (Knuth, The Art of Computer Programming 2, 3.4.1).
    uint32_t Poisson(double mean)
    {
        const double least = std::exp(-mean);
        uint32_t count = 0;
        for (double product = Unit(); product > least; product *= Unit())
        {
            count++;
        }
        return count;
    }

  private:
    static constexpr uint64_t STEP = 0x9e3779b97f4a7c15ull;
    uint64_t m_state;
};

} // namespace fullpipe
